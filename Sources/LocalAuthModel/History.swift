// SPDX-License-Identifier: Apache-2.0

/// Something that was done about a user, as the user's own trail keeps it: who asked for it, why,
/// and what came of it. Never which finger, a template or a secret.
package struct HistoryEntry: Hashable, Sendable {
    /// What was done. The raw values are those of the bus and of the file.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case evaluate
        case enroll
        case delete
        case resetLockout = "reset-lockout"
    }

    /// So many bytes of UTF-8 are kept of each text.
    package static let longestText = 256
    package static let longestReason = Reason.limit
    /// So many entries are kept of each user.
    package static let limit = 200

    package let kind: Kind
    /// Microseconds since 1970, by the clock that people set.
    package let time: UInt64
    package let callerUser: UserID
    /// The program's name as it may be shown; empty when it is not known.
    package private(set) var callerName = ""
    /// How the name is known; `nil` when it is not.
    package private(set) var callerEvidence: CallerProgram.Evidence?
    /// The caller's words as they may be shown.
    package let reason: String
    /// 0 for what is no evaluation.
    package let policy: UInt32
    /// How the user was authenticated; empty when it was not.
    package let method: String
    /// `success`, or the last part of the error's name.
    package let outcome: String
    package let misses: UInt32

    package init(
        _ kind: Kind, at time: UInt64, by callerUser: UserID, program: CallerProgram? = nil,
        reason: String = "", policy: UInt32 = 0, method: String = "", outcome: String,
        misses: UInt32 = 0
    ) {
        self.kind = kind
        self.time = time
        self.callerUser = callerUser
        self.reason = harmlessText(reason, limit: Self.longestReason)
        self.policy = policy
        self.method = harmlessText(method, limit: Self.longestText)
        self.outcome = harmlessText(outcome, limit: Self.longestText)
        self.misses = misses
        name(program)
    }

    /// Puts down what the caller's program is called.
    package mutating func name(_ program: CallerProgram?) {
        callerName = harmlessText(program?.name ?? "", limit: Self.longestText)
        callerEvidence = callerName.isEmpty ? nil : program?.evidence
    }
}

/// The users' trails on disk, kept by user id *and* name.
package protocol HistoryStoring: Sendable {
    /// The user's entries, newest first; none when there is no trail that can be read.
    func history(of account: Account) async -> [HistoryEntry]
    /// Puts entries, newest first, before those that are there, and drops the oldest beyond the
    /// limit. Whole or not at all.
    func add(_ entries: [HistoryEntry], for account: Account) async throws(StorageFailure)
}
