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
    let feasibility: Feasibility
    let agents: AgentRegistry
    let passwords: any PasswordVerifying
    let line: ReaderLine
    let readers: any ReaderDriving
    let prints: any PrintStoring
    let audience: Audience
    let fingers: FingerMemory
    let prompts: PromptKeeper
    let history: HistoryKeeper
    let attestations: AttestationServices
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
    /// Who shows the prompt, if somebody does.
    private(set) var agent: PromptAgent?
    /// The first of the readers that are asked.
    private(set) var reader: ReaderDescription?

    private let request: EvaluationRequest
    private let connection: UniqueName
    private let isInteractive: Bool
    private let services: EvaluationServices
    private let attestation: Attestation

    init(
        _ request: EvaluationRequest, from connection: UniqueName, interactive: Bool,
        services: EvaluationServices
    ) {
        self.request = request
        self.connection = connection
        self.isInteractive = interactive
        self.services = services
        attestation = Attestation(
            request, services.attestations, prints: services.biometry.prints)
    }

    /// Templates are kept no longer than they are needed.
    func forgetGalleries() { galleries = [:] }

    func admit() async -> EvaluationEvent {
        do throws(EvaluationError) {
            let caller = try await services.callers.caller(evaluating: connection)
            parties = Parties(caller: caller, account: caller.account)
            guard services.hasRoom(caller.account.id) else { throw .limitsExceeded }
            program = services.callers.program(of: caller)
            let account: Account
            switch request.purpose {
            case .evaluate:
                _ = try await services.gate.admit(
                    caller, to: .evaluate, interactive: isInteractive)
                account = try await evaluated(by: caller)
            case .enroll, .delete:
                try await services.gate.requirePresence(of: caller)
                account = caller.account
            }
            parties = Parties(caller: caller, account: account)
            guard await !services.passwords.standing(of: account).hasAccountExpired else {
                throw .accountUnavailable
            }
            if try await attestation.accepts(caller, for: account, named: program) {
                return services.gate.isStillThere(caller) ? .confirmed : .refused(.appCancel)
            }
            try await services.feasibility.beginEvaluating(
                request.requirement, of: account, askedBy: caller)
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

    /// Finds out what can be asked for, and loads the prints fresh from disk. What held when the
    /// call came may not hold any more.
    func prepare() async -> EvaluationEvent {
        guard let parties else { return .refused(.systemCancel) }
        let means: Feasibility.Means
        do throws(EvaluationError) {
            means = try await services.feasibility.means(
                for: request.requirement, of: parties.account, askedBy: parties.caller)
            try await loadGalleries(means, of: parties.account)
        } catch {
            return .refused(error)
        }
        agent = means.agent
        reader = means.readers.first { galleries[$0.id] != nil }
        let standing = await services.biometry.lockout.standing(of: parties.account)
        return .prepared(
            EvaluationOffer(
                readers: galleries.keys.sorted { $0.number < $1.number },
                attemptsLeft: standing.attemptsLeft, hasPrompt: agent != nil,
                password: means.password))
    }

    private func loadGalleries(
        _ means: Feasibility.Means, of account: Account
    ) async throws(EvaluationError) {
        guard !means.readers.isEmpty else { return }
        let prints: [StoredPrint]
        do throws(StorageFailure) {
            prints = try await services.prints.load(
                of: account.name, for: Set(means.readers.map(\.kind)))
        } catch {
            services.log.warning("the prints could not be loaded", ["error": "\(error)"])
            // A password does without.
            guard request.requirement != .finger, means.password == .taken else {
                throw .biometryNotAvailable
            }
            return
        }
        for reader in means.readers {
            let lost = services.biometry.lost[reader.id] ?? []
            let gallery = prints.filter {
                $0.id.reader == reader.kind && $0.id.user == account.name
                    && !lost.contains($0.id)
            }
            if !gallery.isEmpty { galleries[reader.id] = services.fingers.sort(gallery) }
        }
    }

    /// A reader has turned out to have none of the prints in its own memory.
    func noteLoss(on reader: ReaderID) {
        services.biometry.noteLoss(of: (galleries[reader] ?? []).map(\.id), on: reader)
    }

    func charge() async -> EvaluationEvent {
        guard let account = parties?.account else { return .charged(attemptsLeft: 0) }
        return .charged(
            attemptsLeft: await services.biometry.lockout.charge(account).attemptsLeft)
    }

    func confirm(_ proof: Proof) async -> EvaluationEvent {
        guard let parties else { return .refused(.systemCancel) }
        do throws(EvaluationError) {
            // Whether the caller may was decided; whether it is still here is asked anew.
            try await services.gate.requirePresence(of: parties.caller)
        } catch {
            return .refused(.systemCancel)
        }
        do throws(EvaluationError) {
            try await attestation.confirm(parties.account, named: program)
        } catch {
            return .refused(error)
        }
        guard services.gate.isStillThere(parties.caller) else { return .refused(.appCancel) }
        do throws(EvaluationError) {
            try await settle(proof, of: parties.account)
            return .confirmed
        } catch {
            return .refused(error)
        }
    }

    /// Forgets the misses; and a finger has to be one that still counts.
    private func settle(_ proof: Proof, of account: Account) async throws(EvaluationError) {
        if proof != .password, await services.passwords.standing(of: account).hasAccountExpired {
            throw .accountUnavailable
        }
        let lockout = services.biometry.lockout
        let counts: Bool
        do throws(StorageFailure) {
            switch proof {
            case .password:
                try await lockout.clear(account)
                counts = true
            case .finger: counts = try await lockout.clearAfterMatch(account)
            }
        } catch {
            // The older, stricter count stays.
            services.log.warning("the misses could not be forgotten", ["error": "\(error)"])
            counts = true
        }
        guard case .finger(let print) = proof else { return }
        guard counts else { throw .biometryLockout }
        services.fingers.remember(print)
    }

    /// What the success says, after `confirmed`; `nil` where nobody is known to have succeeded.
    func success(
        by proof: (method: AuthenticationMethod, at: BootTime)?
    ) -> EvaluationSuccess? {
        guard let parties else { return nil }
        return attestation.success(of: parties.caller, as: parties.account, by: proof)
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
