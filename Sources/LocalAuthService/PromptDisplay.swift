// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// What an agent shows of one evaluation, and what is entered there.
@BusQueue final class PromptDisplay {
    private typealias Answer = Result<SubmitPassword.Reply, BusError>

    private struct Entry {
        let entry: any PasswordEntry
        let answer: CheckedContinuation<Answer, Never>
    }

    private let prompt: Prompt
    private let passwords: PasswordCheck
    private var entries: [SubmissionID: Entry] = [:]
    private var last: UInt64 = 0

    init(_ prompt: Prompt, passwords: PasswordCheck) {
        self.prompt = prompt
        self.passwords = passwords
    }

    func begin(_ details: [PromptKey: BusValue], deadline: Duration) async -> Bool {
        await prompt.begin(details, deadline: deadline)
    }

    // MARK: Showing

    func show(_ view: PromptView) { prompt.update(view.changes) }

    func show(_ progress: EvaluationProgress) {
        prompt.update([.progress: .string(progress.rawValue)])
    }

    func show(_ cause: RetryCause?, attemptsLeft: UInt32) {
        prompt.update([.retry: .string(cause.wireName), .attemptsLeft: .uint32(attemptsLeft)])
    }

    /// Shows it no longer. What is still being checked is given up.
    func end(_ error: EvaluationError?) {
        passwords.stop()
        prompt.end(error?.outcome ?? "success")
        let rest = entries
        entries = [:]
        for entry in rest.values { entry.answer.resume(returning: .failure(.promptHasEnded)) }
    }

    // MARK: Entries

    /// Takes an entry; returns when it is known what it came to. `tell` is given its name.
    func submit(
        _ entry: any PasswordEntry, _ tell: (SubmissionID) -> Void
    ) async throws(BusError) -> SubmitPassword.Reply {
        last += 1
        let id = SubmissionID(last)
        return try await withCheckedContinuation { answer in
            entries[id] = Entry(entry: entry, answer: answer)
            tell(id)
        }.get()
    }

    /// Has an entry checked.
    func check(_ id: SubmissionID) {
        if let entry = entries[id] { passwords.take(id, entry.entry) }
    }

    func answer(_ id: SubmissionID, isAccepted: Bool, left: UInt32) {
        let reply = SubmitPassword.Reply(accepted: isAccepted, attemptsLeft: left)
        entries.removeValue(forKey: id)?.answer.resume(returning: .success(reply))
    }
}

extension BusError {
    fileprivate static let promptHasEnded = BusError(
        ServiceError.noSuchPrompt.name, "The prompt has ended.")
}

extension PromptView {
    var changes: [PromptKey: BusValue] {
        [
            .finger: .bool(wantsFinger), .password: .bool(takesPassword),
            .attemptsLeft: .uint32(attemptsLeft), .passwordsLeft: .uint32(passwordsLeft),
        ]
    }
}

extension PasswordText? {
    /// How a text of the password's check is shown; `nil` takes a question back.
    var changes: [PromptKey: BusValue] {
        guard let text = self else { return [.question: .string("")] }
        let line = BusValue.string(harmlessText(text.text, limit: 512))
        return switch text.kind {
        case .information: [.information: line]
        case .error: [.error: line]
        case .question(let isEchoed): [.question: line, .echo: .bool(isEchoed)]
        }
    }
}
