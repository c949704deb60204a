// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// What an evaluation that succeeded says.
struct EvaluationSuccess: Hashable, Sendable {
    let authenticatedAt: BootTime
}

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
    let rules: LockoutRules
    let log: Log
    /// Whether the user may have one more evaluation; told by whoever counts them.
    var hasRoom: (UserID) -> Bool = { _ in true }
}

/// One evaluation from its call to its answer: carries out what the steps of the model want, and
/// feeds what comes of it back to them. It decides nothing.
@BusQueue final class RunningEvaluation {
    let id: TurnID
    /// The connection that called.
    let connection: UniqueName
    let token: String
    /// Who that is, and about whom; `nil` until it has been looked up.
    private(set) var parties: Parties?

    /// The two sides of an evaluation.
    struct Parties {
        let caller: Caller
        /// The user who is to be authenticated.
        let account: Account
    }

    private let request: EvaluationRequest
    private let isInteractive: Bool
    private let services: EvaluationServices
    private let terms: EvaluationTerms
    private var state = EvaluationState.admitting
    private var inbox: [EvaluationEvent] = []
    private var isStepping = false
    private var answer: ((Result<EvaluationSuccess, EvaluationError>) -> Void)?
    private var onEnd: (() -> Void)?
    private var readers: [ReaderID: ArmedReader] = [:]
    private var galleries: [ReaderID: [StoredPrint]] = [:]
    private var preliminaries: Task<Void, Never>?
    private var timer: PollExecutor.Token?
    private var lastProgress: EvaluationProgress?
    private var matchedAt = BootTime(microseconds: 0)

    init(
        id: TurnID, _ request: EvaluationRequest, from connection: UniqueName, interactive: Bool,
        services: EvaluationServices
    ) {
        self.id = id
        self.request = request
        self.connection = connection
        self.token = request.token
        self.isInteractive = interactive
        self.services = services
        terms = EvaluationTerms(
            policy: request.policy, missesAllowed: services.rules.missesPerEvaluation)
    }

    /// Begins. `answer` is called exactly once; `onEnd` when nothing of it is left.
    func start(
        answer: @escaping (Result<EvaluationSuccess, EvaluationError>) -> Void,
        onEnd: @escaping () -> Void
    ) {
        self.answer = answer
        self.onEnd = onEnd
        timer = BusQueue.executor.after(request.timeout) { [weak self] in
            BusQueue.assumeIsolated {
                self?.timer = nil
                self?.take(.interrupted(.timeout))
            }
        }
        for effect in firstEvaluationEffects { carryOut(effect) }
    }

    var isAnswered: Bool { answer == nil }

    /// Feeds an event to the machine, after those that came before it.
    func take(_ event: EvaluationEvent) {
        inbox.append(event)
        guard !isStepping else { return }
        isStepping = true
        defer { isStepping = false }
        while !inbox.isEmpty {
            let event = inbox.removeFirst()
            let outcome = step(state, event, terms)
            state = outcome.state
            for effect in outcome.effects { carryOut(effect) }
        }
    }

    /// Looks again whether the caller still sits at the machine.
    func recheckPresence() {
        guard !isAnswered, let parties else { return }
        BusQueue.task {
            do throws(EvaluationError) {
                try await services.gate.requirePresence(of: parties.caller)
            } catch {
                take(.interrupted(.systemCancel))
            }
        }
    }

    private func carryOut(_ effect: EvaluationEffect) {
        switch effect {
        case .admit:
            preliminaries = BusQueue.task {
                take(await admit())
            }
        case .queue: queue()
        case .prepare:
            preliminaries = BusQueue.task {
                take(await prepare())
            }
        case .open(let reader): open(reader)
        case .scan(let reader):
            // That a finger is wanted is news again, even if nothing was told of the last touch.
            lastProgress = nil
            readers[reader]?.scan()
        case .scanAfterPause(let reader):
            lastProgress = nil
            readers[reader]?.scanAfterPause()
        case .release(let reader): readers[reader]?.release()
        case .charge:
            BusQueue.task { take(await charge()) }
        case .confirm(let print):
            matchedAt = BootTime(microseconds: BootClock.microseconds())
            BusQueue.task { take(await confirm(print)) }
        case .tellRetry(let cause, let left):
            services.audience.retry(self, cause: cause, attemptsLeft: left)
        case .tellProgress(let progress): tell(progress)
        case .answer(let error): finish(error)
        case .leave: leave()
        }
    }

    private func admit() async -> EvaluationEvent {
        do throws(EvaluationError) {
            let caller = try await services.callers.caller(evaluating: connection)
            parties = Parties(caller: caller, account: caller.account)
            guard services.hasRoom(caller.account.id) else { throw .limitsExceeded }
            _ = try await services.gate.admit(caller, to: .evaluate, interactive: isInteractive)
            let account = try await evaluated(by: caller)
            parties = Parties(caller: caller, account: account)
            // Nothing that would succeed without a prompt exists yet.
            guard !request.interactionNotAllowed else { throw .notInteractive }
            _ = try await services.biometry.readers(for: request.policy, of: account)
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

    private func queue() {
        guard let user = parties?.caller.account.id else { return }
        let hasJoined = services.line.join(id, user: user) { [weak self] in
            self?.take(.turnCame)
        }
        if !hasJoined {
            take(.refused(.limitsExceeded))
        } else if case .queued = state, inbox.isEmpty {
            tell(.queued)
        }
    }

    /// Loads the prints fresh from disk. What held when the call came may not hold any more.
    private func prepare() async -> EvaluationEvent {
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

    private func open(_ reader: ReaderID) {
        let armed = ArmedReader(
            reader, of: services.readers, gallery: galleries[reader] ?? []
        ) { [weak self] event in
            self?.take(event)
        }
        readers[reader] = armed
        armed.openReader()
    }

    private func charge() async -> EvaluationEvent {
        guard let account = parties?.account else { return .charged(attemptsLeft: 0) }
        return .charged(
            attemptsLeft: await services.biometry.lockout.charge(account).attemptsLeft)
    }

    private func confirm(_ print: PrintID) async -> EvaluationEvent {
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

    private func tell(_ progress: EvaluationProgress) {
        guard progress != lastProgress else { return }
        lastProgress = progress
        services.audience.progress(self, progress)
    }

    private func finish(_ error: EvaluationError?) {
        if let timer { BusQueue.executor.cancelTimer(timer) }
        timer = nil
        preliminaries?.cancel()
        services.log.notice(
            "evaluation ended",
            [
                "evaluation": "\(id.number)",
                "uid": parties.map { "\($0.account.id.rawValue)" } ?? "unknown",
                "result": error.map { "\($0)" } ?? "success",
            ])
        let result: Result<EvaluationSuccess, EvaluationError> =
            error.map { .failure($0) } ?? .success(EvaluationSuccess(authenticatedAt: matchedAt))
        answer?(result)
        answer = nil
    }

    private func leave() {
        readers = [:]
        galleries = [:]
        services.line.leave(id)
        onEnd?()
        onEnd = nil
    }
}
