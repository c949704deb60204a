// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import Foundation
package import LocalAuthModel

/// Accounts whose password a test knows.
@BusQueue package final class FakePasswords: PasswordVerifying {
    package var standing = PasswordStanding(isSet: true, hasAccountExpired: false)
    /// What a check comes to, whatever was entered; `nil`: it is compared with `right`.
    package var verdict: PasswordVerdict?
    /// Told before the check.
    package var texts: [PasswordText] = []
    /// Asked after the first entry, one after the other.
    package var questions: [PasswordText] = []
    /// Whether checks take until `finish`.
    package var isHeld = false
    /// What was entered, in order; `nil` where a question was not answered.
    package let entries = Journal<String?>()
    /// The checks that have ended, and whether they had been cancelled.
    package let ends = Journal<Bool>()
    package static let right = "correct horse"
    private var held: [CheckedContinuation<Void, Never>] = []
    private var changed: (@Sendable () -> Void)?

    package nonisolated init() {}

    @BusQueue package func start(changed: @escaping @Sendable () -> Void) async {
        self.changed = changed
    }

    /// Somebody has changed a password.
    package func announceChange() { changed?() }

    @BusQueue package func standing(of account: Account) async -> PasswordStanding { standing }

    @BusQueue package func verify(
        _ entry: any PasswordEntry, of account: Account, with person: any PasswordConversing
    ) async -> PasswordVerdict {
        let text = await Self.text(of: entry)
        entries.add(text)
        for text in texts { await person.tell(text) }
        for question in questions {
            guard let answer = await person.answer(to: question) else {
                entries.add(nil)
                continue
            }
            entries.add(await Self.text(of: answer))
        }
        if isHeld {
            await withTaskCancellationHandler {
                await withCheckedContinuation { held.append($0) }
            } onCancel: {
                BusQueue.post { self.finish() }
            }
        }
        ends.add(Task.isCancelled)
        guard !Task.isCancelled else { return .unavailable }
        if let verdict { return verdict }
        return text.isEmpty ? .empty : text == Self.right ? .correct : .wrong
    }

    /// Lets the checks that are held come to their ends.
    package func finish() {
        let held = held
        self.held = []
        for check in held { check.resume() }
    }

    /// All that is in a pipe whose other end is, or will be, closed.
    private static func text(of entry: any PasswordEntry) async -> String {
        let copy = dup(entry.descriptor)
        let data = try? await blocking {
            try FileHandle(fileDescriptor: copy, closeOnDealloc: true).readToEnd() ?? Data()
        }
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
