// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// One evaluation from its call to its answer: carries out what the steps of the model want, and
/// feeds what comes of it back to them. It decides nothing.
@BusQueue final class RunningEvaluation {
    let id: TurnID
    /// The connection that called.
    let connection: UniqueName
    let token: String

    let request: EvaluationRequest
    let services: EvaluationServices
    let inquiry: EvaluationInquiry
    let terms: EvaluationTerms
    private(set) var state = EvaluationState.admitting
    /// What an agent shows of it, if one does.
    var display: PromptDisplay?
    private var inbox: [EvaluationEvent] = []
    private var isStepping = false
    private var answer: ((Result<EvaluationSuccess, EvaluationError>) -> Void)?
    private var onEnd: (() -> Void)?
    private var readers: [ReaderID: ArmedReader] = [:]
    private var preliminaries: Task<Void, Never>?
    /// Ends what waits: the prompt, and after the answer the readers' time to let go.
    private var timer: PollExecutor.Token?
    /// Holds back the prompt of somebody who asks too often.
    private var pause: PollExecutor.Token?
    private var lastProgress: EvaluationProgress?
    /// Whether it has got as far as the line; what was refused before leaves no trace on disk.
    private var hasQueued = false
    private var misses: UInt32 = 0
    /// What has shown that it is the user, and when; nothing where an earlier success was accepted.
    private var proof: (method: AuthenticationMethod, at: BootTime)?
    /// Whether somebody had the chance to do something, and whether somebody has done it.
    private var hasAsked = false
    private var wasTouched = false
    /// Whether it is over but for readers that do not let go.
    private(set) var hasYielded = false

    init(
        id: TurnID, _ request: EvaluationRequest, from connection: UniqueName, interactive: Bool,
        services: EvaluationServices
    ) {
        self.id = id
        self.request = request
        self.connection = connection
        self.token = request.token
        self.services = services
        inquiry = EvaluationInquiry(
            request, from: connection, interactive: interactive, services: services)
        terms = EvaluationTerms(
            request.requirement, missesAllowed: services.rules.missesPerEvaluation,
            hasFallback: request.hasFallback)
    }

    /// Who asks, and about whom; `nil` until it has been looked up.
    var parties: EvaluationInquiry.Parties? { inquiry.parties }

    var isAnswered: Bool { answer == nil }

    /// Begins. `answer` is called exactly once; `onEnd` when nothing of it is left.
    func start(
        answer: @escaping (Result<EvaluationSuccess, EvaluationError>) -> Void,
        onEnd: @escaping () -> Void
    ) {
        self.answer = answer
        self.onEnd = onEnd
        setTimer(request.timeout, .interrupted(.timeout))
        for effect in firstEvaluationEffects { carryOut(effect) }
    }

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
        guard !isAnswered else { return }
        BusQueue.task {
            if await inquiry.hasLostPresence() { take(.interrupted(.systemCancel)) }
        }
    }

    /// Looks again whether the readers can be got at.
    func recheckReaders() {
        for reader in readers.keys {
            if let obstacle = services.biometry.obstacle(to: reader) {
                take(.failed(reader, obstacle))
            }
        }
    }

    private func carryOut(_ effect: EvaluationEffect) {
        switch effect {
        case .admit:
            preliminaries = BusQueue.task {
                take(await inquiry.admit())
            }
        case .queue: queue()
        case .prepare:
            preliminaries = BusQueue.task {
                take(await inquiry.prepare())
            }
        case .open(let reader): open(reader)
        case .present(let view): present(view)
        case .show(let view): display?.show(view)
        case .check(let entry): display?.check(entry)
        case .answerEntry(let entry, let isAccepted, let left):
            display?.answer(entry, isAccepted: isAccepted, left: left)
        case .scan(let reader):
            hasAsked = true
            // That a finger is wanted is news again, even if nothing was told of the last touch.
            lastProgress = nil
            readers[reader]?.scan()
        case .scanAfterPause(let reader):
            lastProgress = nil
            readers[reader]?.scanAfterPause()
        case .release(let reader): readers[reader]?.release()
        case .charge:
            misses += 1
            BusQueue.task { take(await inquiry.charge()) }
        case .confirm(let proof):
            self.proof = (
                proof == .password ? .password : .biometrics,
                BootTime(microseconds: BootClock.microseconds())
            )
            BusQueue.task { take(await inquiry.confirm(proof)) }
        case .tellRetry(let cause, let left):
            services.audience.retry(self, cause: cause, attemptsLeft: left)
            display?.show(cause, attemptsLeft: left)
        case .tellProgress(let progress): tell(progress)
        case .answer(let error): finish(error)
        case .yield(let kept):
            hasYielded = true
            services.biometry.care.noteStuck(kept)
            services.line.leave(id)
        case .leave: leave()
        }
    }

    // MARK: Its turn

    /// Waits in line; first, if prompts of the same program keep running out, for a while.
    private func queue() {
        guard let user = parties?.caller.account.id, services.prompts.remembers(user) else {
            return join()
        }
        tell(.queued)
        preliminaries = BusQueue.task {
            guard let asker = await inquiry.asker(), !isAnswered else { return }
            pause = BusQueue.executor.after(services.prompts.pause(for: asker)) { [weak self] in
                BusQueue.assumeIsolated {
                    self?.pause = nil
                    self?.join()
                }
            }
        }
    }

    private func join() {
        guard let user = parties?.caller.account.id else { return }
        let hasJoined = services.line.join(id, user: user) { [weak self] in
            self?.take(.turnCame)
        }
        hasQueued = hasJoined
        if !hasJoined {
            take(.refused(.limitsExceeded))
        } else if case .queued = state, inbox.isEmpty {
            tell(.queued)
        }
    }

    // MARK: Readers

    private func open(_ reader: ReaderID) {
        let armed = ArmedReader(
            reader, of: services.readers, gallery: inquiry.galleries[reader] ?? []
        ) { [weak self, care = services.biometry.care] event in
            care.note(event)
            self?.note(event)
            self?.take(event)
        }
        readers[reader] = armed
        // The lid may have been closed since the readers were chosen.
        if let obstacle = services.biometry.obstacle(to: reader) {
            take(.failed(reader, obstacle))
        } else {
            armed.openReader()
        }
    }

    private func note(_ event: EvaluationEvent) {
        switch event {
        // Whatever the touch was worth, somebody is there.
        case .judged, .sensed(_, .fingerPresent): noteHand()
        case .failed(let reader, .notOnReader): inquiry.noteLoss(on: reader)
        case .admitted, .refused, .turnCame, .prepared, .presented, .opened, .sensed, .failed,
            .released, .charged, .fallbackChosen, .passwordSubmitted, .passwordQuestioned,
            .passwordJudged, .confirmed, .interrupted, .overdue:
            break
        }
    }

    /// Somebody is there.
    func noteHand() {
        wasTouched = true
        if let user = parties?.caller.account.id { services.prompts.noteTouch(by: user) }
    }

    // MARK: Telling and ending

    private func tell(_ progress: EvaluationProgress) {
        guard progress != lastProgress else { return }
        lastProgress = progress
        if progress == .waitingForPassword { hasAsked = true }
        services.audience.progress(self, progress)
        display?.show(progress)
    }

    private func finish(_ error: EvaluationError?) {
        let result = result(error)
        preliminaries?.cancel()
        if let pause { BusQueue.executor.cancelTimer(pause) }
        // The next in line need not wait for ever for readers to let go.
        setTimer(services.patience.cancelling, .overdue)
        if hasAsked, !wasTouched, error == .timeout || error == .userCancel {
            BusQueue.task {
                if let asker = await inquiry.asker() { services.prompts.noteVain(asker) }
            }
        }
        services.log.notice(
            "evaluation ended",
            [
                "evaluation": "\(id.number)",
                "uid": parties.map { "\($0.account.id.rawValue)" } ?? "unknown",
                "result": error.map { "\($0)" } ?? "success",
            ], id: .evaluationEnded)
        display?.end(error)
        display = nil
        answer?(result)
        answer = nil
        guard hasQueued || error == nil, let parties, request.purpose == .evaluate else { return }
        services.history.note(
            request, of: parties.account, by: parties.caller, named: inquiry.program,
            result: result, misses: misses)
    }

    private func result(
        _ error: EvaluationError?
    ) -> Result<EvaluationSuccess, EvaluationError> {
        if let error { return .failure(error) }
        // Without proof there is no success, whatever led here.
        return inquiry.success(by: proof).map { .success($0) } ?? .failure(.systemCancel)
    }

    private func leave() {
        setTimer(nil, .overdue)
        readers = [:]
        inquiry.forgetGalleries()
        services.line.leave(id)
        onEnd?()
        onEnd = nil
    }

    private func setTimer(_ delay: Duration?, _ event: EvaluationEvent) {
        if let timer { BusQueue.executor.cancelTimer(timer) }
        timer = delay.map { delay in
            BusQueue.executor.after(delay) { [weak self] in
                BusQueue.assumeIsolated {
                    self?.timer = nil
                    self?.take(event)
                }
            }
        }
    }
}
