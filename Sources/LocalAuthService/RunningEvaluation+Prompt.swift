// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

extension RunningEvaluation {
    /// Has the agent show the prompt.
    func present(_ view: PromptView) {
        guard let agent = inquiry.agent, let parties else {
            return take(.interrupted(.systemCancel))
        }
        let prompt = services.agents.makePrompt(by: agent, for: self)
        let passwords = PasswordCheck(of: parties.account, by: services.passwords) { text in
            prompt.update(text.changes)
        } tell: { [weak self] event in
            self?.take(event)
        }
        let display = PromptDisplay(prompt, passwords: passwords)
        self.display = display
        BusQueue.task {
            let details = await self.details(view, for: parties)
            guard !isAnswered else { return }
            // An agent that does not show it is as good as none, in the middle.
            let deadline = request.timeout + .seconds(10)
            let isShown = await display.begin(details, deadline: deadline)
            take(isShown ? .presented : .interrupted(.systemCancel))
        }
    }

    private func details(
        _ view: PromptView, for parties: EvaluationInquiry.Parties
    ) async -> [PromptKey: BusValue] {
        let program = await inquiry.program?.value
        let name = harmlessText(program?.name ?? "", limit: HistoryEntry.longestText)
        var details = view.changes
        details[.purpose] = .string(request.purpose.rawValue)
        details[.policy] = .uint32(request.purpose == .evaluate ? request.policy.rawValue : 0)
        details[.reason] = .string(request.reason.shown)
        details[.user] = .string(harmlessText(parties.account.name.rawValue, limit: 255))
        details[.caller] = .string(name)
        details[.callerEvidence] = .string(name.isEmpty ? "" : program?.evidence.rawValue ?? "")
        if state.takesFallback(terms) {
            details[.fallbackTitle] = .string(request.fallbackTitle ?? "")
        }
        details[.cancelTitle] = .string(request.cancelTitle)
        details[.parentWindow] = .string(request.parentWindow)
        details[.timeout] = .uint32(UInt32(clamping: request.timeout.components.seconds))
        details[.reader] = .string(harmlessText(inquiry.reader?.name ?? "", limit: 255))
        details[.scanType] = .string(inquiry.reader?.scanType.rawValue ?? "")
        return details
    }
}

extension RunningEvaluation: PromptOwner {
    func cancelPrompt() { take(.interrupted(.userCancel)) }

    func losePrompt() { take(.interrupted(.systemCancel)) }

    func chooseFallback() throws(BusError) {
        try expectPrompt(state.takesFallback(terms), "this prompt has no fallback button now")
        take(.fallbackChosen)
    }

    func submit(_ entry: any PasswordEntry) async throws(BusError) -> SubmitPassword.Reply {
        try expectPrompt(state.takesPassword(terms), "this prompt takes no password now")
        guard !state.isCheckingPassword, let display else {
            throw BusError(.limitsExceeded, "a password is being checked")
        }
        return try await display.submit(entry) { take(.passwordSubmitted($0)) }
    }

    /// Somebody does something in the prompt; so it is being shown, whatever the agent says of it.
    private func expectPrompt(_ isRight: Bool, _ message: String) throws(BusError) {
        noteHand()
        take(.presented)
        guard isRight else { throw BusError(.notSupported, message) }
    }
}

extension EvaluationError {
    /// The last part of the error's name: how prompts and histories call the ending.
    var outcome: String {
        busError.name.rawValue.split(separator: ".").last.map(String.init) ?? ""
    }
}
