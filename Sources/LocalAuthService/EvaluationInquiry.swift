// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// What every evaluation needs of the service.
@BusQueue struct EvaluationServices {
    let callers: CallerRegistry
    let accounts: any AccountLookup
    let gate: Gate
    let biometry: BiometryState
    let line: ReaderLine
    let readers: any ReaderDriving
    let prints: any PrintStoring
    let audience: Audience
    let fingers: FingerMemory
    let prompts: PromptKeeper
    let history: HistoryKeeper
    let rules: LockoutRules
    let patience: DriverPatience
    let log: Log
    /// Whether the user may have one more evaluation; told by whoever counts them.
    var hasRoom: (UserID) -> Bool = { _ in true }
}

/// Finds out and writes down what the steps of one evaluation want to know and to have kept: who
/// asks, whether that may be, with which prints. Each answer is the step's next event.
@BusQueue final class EvaluationInquiry {
    /// The two sides of an evaluation.
    struct Parties {
        let caller: Caller
        /// The user who is to be authenticated.
        let account: Account
    }

    /// `nil` until it has been looked up.
    private(set) var parties: Parties?
    /// What the caller's program is called; looked up since the call came.
    private(set) var program: Task<CallerProgram?, Never>?
    /// The prints that a touch on each reader is compared with.
    private(set) var galleries: [ReaderID: [StoredPrint]] = [:]

    private let request: EvaluationRequest
    private let connection: UniqueName
    private let isInteractive: Bool
    private let services: EvaluationServices

    init(
        _ request: EvaluationRequest, from connection: UniqueName, interactive: Bool,
        services: EvaluationServices
    ) {
        self.request = request
        self.connection = connection
        self.isInteractive = interactive
        self.services = services
    }

    /// Templates are kept no longer than they are needed.
    func forgetGalleries() { galleries = [:] }

    func admit() async -> EvaluationEvent {
        do throws(EvaluationError) {
            let caller = try await services.callers.caller(evaluating: connection)
            parties = Parties(caller: caller, account: caller.account)
            guard services.hasRoom(caller.account.id) else { throw .limitsExceeded }
            program = services.callers.program(of: caller)
            _ = try await services.gate.admit(caller, to: .evaluate, interactive: isInteractive)
            let account = try await evaluated(by: caller)
            parties = Parties(caller: caller, account: account)
            // Nothing that would succeed without a prompt exists yet.
            guard !request.interactionNotAllowed else { throw .notInteractive }
            try await services.biometry.beginEvaluating(request.policy, for: account)
            return .admitted
        } catch {
            return .refused(error)
        }
    }

    /// The account to be evaluated. Another user's is looked up only for those who may ask for it,
    /// so that nobody else learns who has an account.
    private func evaluated(by caller: Caller) async throws(EvaluationError) -> Account {
        guard let user = request.user, user != caller.account.name else { return caller.account }
        _ = try await services.gate.admit(
            caller, to: .evaluateOthers, interactive: isInteractive)
        guard let account = await services.accounts.account(name: user) else {
            throw .notAuthorized
        }
        return account
    }

    /// Loads the prints fresh from disk. What held when the call came may not hold any more.
    func prepare() async -> EvaluationEvent {
        guard let account = parties?.account else { return .refused(.systemCancel) }
        let usable: [ReaderDescription]
        do throws(EvaluationError) {
            usable = try await services.biometry.readers(for: request.policy, of: account)
        } catch {
            return .refused(error)
        }
        let prints: [StoredPrint]
        do throws(StorageFailure) {
            prints = try await services.prints.load(
                of: account.name, for: Set(usable.map(\.kind)))
        } catch {
            services.log.warning("the prints could not be loaded", ["error": "\(error)"])
            return .refused(.biometryNotAvailable)
        }
        for reader in usable {
            let gallery = prints.filter {
                $0.id.reader == reader.kind && $0.id.user == account.name
            }
            if !gallery.isEmpty { galleries[reader.id] = services.fingers.sort(gallery) }
        }
        let standing = await services.biometry.lockout.standing(of: account)
        return .prepared(
            galleries.keys.sorted { $0.number < $1.number }, attemptsLeft: standing.attemptsLeft)
    }

    func charge() async -> EvaluationEvent {
        guard let account = parties?.account else { return .charged(attemptsLeft: 0) }
        return .charged(
            attemptsLeft: await services.biometry.lockout.charge(account).attemptsLeft)
    }

    func confirm(_ print: PrintID) async -> EvaluationEvent {
        guard let parties else { return .refused(.systemCancel) }
        do throws(EvaluationError) {
            // Whether the caller may was decided; whether it is still here is asked anew.
            try await services.gate.requirePresence(of: parties.caller)
        } catch {
            return .refused(.systemCancel)
        }
        guard services.gate.isStillThere(parties.caller) else { return .refused(.appCancel) }
        do throws(StorageFailure) {
            try await services.biometry.lockout.clear(parties.account)
        } catch {
            // The older, stricter count stays.
            services.log.warning("the misses could not be forgotten", ["error": "\(error)"])
        }
        services.fingers.remember(print)
        return .confirmed
    }

    /// Whether the caller does not sit at the machine any more.
    func hasLostPresence() async -> Bool {
        guard let parties else { return false }
        do throws(EvaluationError) {
            try await services.gate.requirePresence(of: parties.caller)
            return false
        } catch {
            return true
        }
    }

    /// For whose patience a prompt that runs out counts.
    func asker() async -> PromptPatience.Asker? {
        guard let user = parties?.caller.account.id else { return nil }
        return PromptPatience.Asker(user: user, program: await program?.value)
    }
}
