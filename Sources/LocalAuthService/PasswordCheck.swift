// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// What was entered, by the pipe that it comes through. The daemon never reads from it.
final class PipedEntry: PasswordEntry {
    private let pipe: SharedDescriptor
    init(_ pipe: SharedDescriptor) { self.pipe = pipe }
    var descriptor: Int32 { pipe.rawValue }
}

/// The check of one evaluation's passwords: one conversation after the other, of one entry or more
/// each. What comes of it is told as events.
@BusQueue final class PasswordCheck: PasswordConversing {
    private let account: Account
    private let passwords: any PasswordVerifying
    private let show: (PasswordText?) -> Void
    private let tell: (EvaluationEvent) -> Void
    private var conversation: Task<Void, Never>?
    private var question: CheckedContinuation<(any PasswordEntry)?, Never>?
    /// The entry that is with the conversation; `nil` while one is awaited.
    private var current: SubmissionID?
    private var isStopped = false

    /// - Parameters:
    ///   - account: whose password it is.
    ///   - passwords: who knows it.
    ///   - show: shows a text, or with `nil` takes a question back.
    ///   - tell: is told `passwordQuestioned` and `passwordJudged`.
    init(
        of account: Account, by passwords: any PasswordVerifying,
        show: @escaping (PasswordText?) -> Void, tell: @escaping (EvaluationEvent) -> Void
    ) {
        self.account = account
        self.passwords = passwords
        self.show = show
        self.tell = tell
    }

    /// Has an entry checked, or gives it to the conversation that has asked for it.
    func take(_ id: SubmissionID, _ entry: any PasswordEntry) {
        guard !isStopped else { return }
        current = id
        guard let question else {
            conversation = BusQueue.task {
                self.end(await self.passwords.verify(entry, of: self.account, with: self))
            }
            return
        }
        self.question = nil
        show(nil)
        question.resume(returning: entry)
    }

    /// Ends it; nothing is told any more.
    func stop() {
        isStopped = true
        conversation?.cancel()
        question?.resume(returning: nil)
        question = nil
    }

    @BusQueue func tell(_ text: PasswordText) async { if !isStopped { show(text) } }

    @BusQueue func answer(to text: PasswordText) async -> (any PasswordEntry)? {
        await withCheckedContinuation { continuation in
            guard !isStopped, question == nil, let entry = current else {
                return continuation.resume(returning: nil)
            }
            question = continuation
            current = nil
            show(text)
            tell(.passwordQuestioned(entry))
        }
    }

    private func end(_ verdict: PasswordVerdict) {
        conversation = nil
        guard !isStopped else { return }
        if let question {
            // It has given up waiting for the answer.
            self.question = nil
            question.resume(returning: nil)
            show(nil)
        }
        guard let entry = current else { return }
        current = nil
        tell(.passwordJudged(entry, verdict))
    }
}
