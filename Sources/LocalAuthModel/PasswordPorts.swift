// SPDX-License-Identifier: Apache-2.0

/// Something that the user has typed, on its way to where it is checked: the reading end of a pipe.
/// Nobody on the way looks into it.
package protocol PasswordEntry: AnyObject, Sendable {
    /// Open as long as this object lives.
    var descriptor: Int32 { get }
}

/// What the check of a password came to. Only `correct` is a yes.
package enum PasswordVerdict: CaseIterable, Hashable, Sendable {
    case correct
    case wrong
    /// Nothing was entered. It is no attempt, and nobody was asked about it.
    case empty
    /// The account has had too many wrong passwords; no more are taken for now.
    case triesUsedUp
    /// The account is locked or has expired, or may not be used now, whatever the password.
    case accountUnavailable
    /// The account has no password that could be entered.
    case notSet
    /// It could not be found out: the checking itself is broken, or took too long.
    case unavailable
}

/// What is known of an account's password without anybody entering it.
package struct PasswordStanding: Hashable, Sendable {
    /// Whether there is one that could be entered; also true where only a directory server knows.
    package var isSet: Bool
    /// Whether the account as such has expired.
    package var hasAccountExpired: Bool

    package init(isSet: Bool, hasAccountExpired: Bool) {
        self.isSet = isSet
        self.hasAccountExpired = hasAccountExpired
    }
}

/// A line that the check wants shown, as it came: not yet fit to be shown.
package struct PasswordText: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case information
        case error
        /// One more question; what is typed may be shown (`isEchoed`) or not.
        case question(isEchoed: Bool)
    }

    package let kind: Kind
    package let text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }
}

/// The person's side of a check.
package protocol PasswordConversing: Sendable {
    /// Shows a text that needs no answer.
    func tell(_ text: PasswordText) async
    /// Asks one more question, and waits for the answer; `nil` when there will be none.
    func answer(to question: PasswordText) async -> (any PasswordEntry)?
}

/// Who knows the passwords of accounts.
package protocol PasswordVerifying: Sendable {
    /// Begins to tell of changes: `changed` is called when a standing that was asked for may be
    /// another one now.
    func start(changed: @escaping @Sendable () -> Void) async
    /// What is known without asking anybody; quick, from memory where that is possible.
    func standing(of account: Account) async -> PasswordStanding
    /// Checks one entry, in one conversation. Nothing runs before this is called or after it has
    /// returned. Cancelling the task ends it early, as `unavailable`.
    func verify(
        _ entry: any PasswordEntry, of account: Account, with person: any PasswordConversing
    ) async -> PasswordVerdict
}
