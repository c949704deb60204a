// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

/// Shows the service's prompts on the terminal, one at a time, and takes what is typed to the
/// service.
@BusQueue final class PromptAgent {
    static let path: ObjectPath = "/org/example/LocalAuth/agent"

    /// A prompt that is shown.
    private struct Shown {
        let id: String
        /// Its own among all that were shown; of ids only the service knows that.
        let number: Int
        /// The connection that shows it, to which alone goes what is typed.
        let service: UniqueName
        var text: PromptText
        /// How much of what was submitted has no answer yet.
        var unanswered = 0
    }

    /// A prompt has ended, so.
    var onEnd: (String) -> Void = { _ in }
    /// Nobody will type anything more, by Ctrl-D or because the terminal has gone.
    var onInputEnd: () -> Void = {}

    private let service: RemoteService
    private let terminal: Terminal
    private var jobControl: JobControl?
    private var shown: Shown?
    private var count = 0

    init(_ service: RemoteService, on terminal: Terminal) {
        self.service = service
        self.terminal = terminal
        terminal.onLine = { [unowned self] line in take(&line) }
        terminal.onTooLong = { [unowned self] in
            listen(saying: ["That is too long: \(Secret.limit) bytes at most."])
        }
        terminal.onEnd = { [unowned self] in onInputEnd() }
        jobControl = JobControl(
            pause: { terminal.pause() }, resume: { [unowned self] in showAgain() })
        service.connection.export(BusObject(Self.path, [interface]))
    }

    /// Whether a prompt is shown.
    var isPrompting: Bool { shown != nil }

    func register(
        _ scope: AgentScope, with destination: Destination = .service(Service.name)
    ) async throws(BusError) {
        _ = try await service.connection.call(
            RegisterAgent.self,
            RegisterAgent.Arguments(
                path: Self.path, options: ["scope": .string(scope.rawValue)]),
            of: destination, at: Service.path, deadline: Conversation.deadline)
    }

    // MARK: What the service says

    private var interface: BusInterface {
        var interface = BusInterface(Service.agentInterface)
        interface.serve(BeginPrompt.self) { [weak self] prompt, call throws(BusError) in
            try self?.begin(prompt, for: call.sender)
            return NoValues()
        }
        interface.serve(UpdatePrompt.self) { [weak self] prompt, call throws(BusError) in
            try self?.update(prompt, for: call.sender)
            return NoValues()
        }
        interface.serve(EndPrompt.self) { [weak self] prompt, call throws(BusError) in
            try self?.end(prompt, for: call.sender)
            return NoValues()
        }
        return interface
    }

    /// Anybody on the bus can call us, to be told a password; only the service may.
    private func check(_ sender: UniqueName) throws(BusError) {
        guard sender == service.owner else {
            throw BusError(
                "org.freedesktop.DBus.Error.AccessDenied", "only the service may show prompts")
        }
    }

    private func begin(
        _ prompt: BeginPrompt.Arguments, for sender: UniqueName
    ) throws(BusError) {
        try check(sender)
        guard shown == nil else {
            throw BusError(.limitsExceeded, "another prompt is shown")
        }
        count += 1
        shown = Shown(
            id: prompt.id, number: count, service: sender, text: PromptText(prompt.details))
        show()
    }

    private func update(
        _ prompt: UpdatePrompt.Arguments, for sender: UniqueName
    ) throws(BusError) {
        try check(sender)
        guard shown?.id == prompt.id, let change = shown?.text.update(prompt.changes) else {
            throw .noSuchPrompt
        }
        if change.isInputDifferent {
            listen(saying: change.lines)
        } else if !change.lines.isEmpty {
            for line in change.lines { terminal.say(TerminalLine(line)) }
            askAgain()
        }
    }

    private func end(_ prompt: EndPrompt.Arguments, for sender: UniqueName) throws(BusError) {
        try check(sender)
        guard shown?.id == prompt.id else { throw .noSuchPrompt }
        drop()
        onEnd(prompt.outcome)
    }

    /// The prompt is gone, however that came: the service need not have said so.
    func drop() {
        guard shown != nil else { return }
        shown = nil
        terminal.leave()
    }

    // MARK: The terminal

    private func show() {
        if let shown { listen(saying: shown.text.lines) }
    }

    /// Shows it again to whoever comes back to it.
    private func showAgain() {
        guard terminal.isForeground else { return }
        show()
    }

    /// Takes lines from now on, of what is typed from now on.
    private func listen(saying lines: [String]) {
        // First, so that whatever is typed in answer to these lines counts, and is not seen.
        let isReading = prepare()
        for line in lines { terminal.say(TerminalLine(line)) }
        if isReading { askAgain() }
    }

    /// Whether a line is wanted now: not while a password is checked, unless something is asked
    /// about it.
    private func prepare() -> Bool {
        guard let shown else { return false }
        guard shown.unanswered == 0 || shown.text.question != nil else {
            terminal.rest()
            return false
        }
        terminal.want(echo: shown.text.question?.isEchoed ?? false)
        return true
    }

    private func askAgain() {
        guard terminal.wanted != nil, let label = shown?.text.label else { return }
        terminal.ask(TerminalLine(label))
    }

    private func take(_ line: inout Secret) {
        guard let prompt = shown else { return }
        switch prompt.text.use(ofEmpty: line.isEmpty) {
        case .submit: submit(&line, to: prompt)
        case .chooseFallback: chooseFallback(prompt)
        case .showAgain: show()
        case .refuse: listen(saying: ["No password is taken here."])
        }
    }

    // MARK: What the service is told

    private func submit(_ line: inout Secret, to prompt: Shown) {
        guard let pipe = line.intoPipe() else {
            return listen(saying: ["That cannot be handed over: no descriptor is left."])
        }
        shown?.text.answer()
        shown?.unanswered += 1
        terminal.rest()
        terminal.say(TerminalLine("Checking."))
        BusQueue.task { [self] in
            let reply: Result<SubmitPassword.Reply, BusError>
            do throws(BusError) {
                let submission = SubmitPassword.Arguments(id: prompt.id, secret: pipe)
                reply = .success(
                    try await service.connection.call(
                        SubmitPassword.self, submission, of: .peer(prompt.service),
                        at: Service.path, deadline: nil))
            } catch {
                reply = .failure(error)
            }
            answered(reply, prompt.number)
        }
    }

    private func answered(_ reply: Result<SubmitPassword.Reply, BusError>, _ number: Int) {
        guard shown?.number == number else { return }
        shown?.unanswered -= 1
        switch reply {
        // The end follows.
        case .success(let reply) where reply.accepted: return
        case .success(let reply):
            // Of a password and the answers to questions about it, the last word counts. While one
            // more thing is asked, nothing was wrong yet.
            guard shown?.unanswered == 0, shown?.text.question == nil else { return }
            let line = shown?.text.countWrongPassword(left: reply.attemptsLeft)
            listen(saying: [line].compactMap(\.self))
        // Its end follows, or has come.
        case .failure(let error) where ServiceError(error.name) == .noSuchPrompt: return
        case .failure(let error): listen(saying: ["Not taken: \(error.message)"])
        }
    }

    private func chooseFallback(_ prompt: Shown) {
        terminal.rest()
        tell(ChooseFallback.self, prompt) { [self] error in
            listen(saying: ["Not possible: \(error.message)"])
        }
    }

    /// Takes the question back, as whoever is asked. False when none is shown.
    @discardableResult
    func cancel() -> Bool {
        guard let prompt = shown else { return false }
        terminal.rest()
        terminal.say(TerminalLine("Canceling."))
        tell(CancelPrompt.self, prompt) { [self] _ in
            // Nobody is there to end it.
            drop()
            onEnd(ServiceError.userCancel.rawValue)
        }
        return true
    }

    private func tell<M: BusMethod>(
        _ method: M.Type, _ prompt: Shown, failed: @escaping @Sendable @BusQueue (BusError) -> Void
    ) where M.Arguments == PromptArgument, M.Reply == NoValues {
        BusQueue.task { [self] in
            do throws(BusError) {
                _ = try await service.connection.call(
                    M.self, PromptArgument(id: prompt.id), of: .peer(prompt.service),
                    at: Service.path, deadline: .seconds(2))
            } catch {
                guard shown?.number == prompt.number else { return }
                failed(error)
            }
        }
    }
}

extension BusError {
    fileprivate static let noSuchPrompt = BusError(
        ServiceError.noSuchPrompt.name, "no such prompt is shown")
}
