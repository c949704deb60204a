// SPDX-License-Identifier: Apache-2.0

/// The bus peer that asks: derived from what the bus and the kernel say, never from what it says.
package struct Caller: Hashable, Sendable {
    /// Its connection's unique name, such as `:1.42`.
    package let connection: String
    package let account: Account
    /// The process that opened the connection, where the bus knows it.
    package let process: CallerProcess?

    package init(connection: String, account: Account, process: CallerProcess? = nil) {
        self.connection = connection
        self.account = account
        self.process = process
    }
}

/// What a caller may be allowed to do. The raw values are polkit's action ids.
package enum Action: String, CaseIterable, Hashable, Sendable {
    case evaluate = "org.example.localauth.evaluate"
    case evaluateOthers = "org.example.localauth.evaluate-others"
    case manage = "org.example.localauth.manage"
    case manageOthers = "org.example.localauth.manage-others"
    case resetLockout = "org.example.localauth.reset-lockout"
}

/// An authority's answer. Not a `Bool`: a question that nobody answered is not a grant.
package enum Decision: Hashable, Sendable {
    case granted
    case denied
    /// The authority could not be reached or did not answer.
    case unanswered
}

/// Who decides what callers may do.
package protocol Authorizing: Sendable {
    /// Whether managing one's own prints needs the account's password on top.
    var asksForPassword: Bool { get }
    /// Decides. `interactive` allows a question to the user; cancelling the task withdraws it.
    func decide(_ action: Action, for caller: Caller, interactive: Bool) async -> Decision
    /// The caller is gone, and so is what was decided for it.
    func forget(_ connection: String) async
    /// Where people sit has changed, on which decisions may depend; none is kept.
    func forgetAll() async
}

extension Authorizing {
    /// For those that keep nothing.
    package func forgetAll() async {}
}

/// Whether a caller sits at the machine.
package enum Presence: Hashable, Sendable {
    case present
    /// Its session is remote, inactive, locked, or it has none.
    case absent
    /// Nobody could tell.
    case unknown
}

/// Names a session, in whatever way its keeper does.
package struct SessionID: Hashable, Sendable {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// Where a caller sits.
package struct Seating: Hashable, Sendable {
    package let presence: Presence
    /// The session that it belongs to, if one is known.
    package let session: SessionID?

    package init(_ presence: Presence, in session: SessionID? = nil) {
        self.presence = presence
        self.session = session
    }
}

/// Who sits where.
package protocol SessionWatching: Sendable {
    /// Begins to watch; `changed` is called when seatings may be different for anybody.
    func start(changed: @escaping @Sendable () -> Void) async
    func seating(of caller: Caller) async -> Seating
}

/// The accounts of this machine.
package protocol AccountLookup: Sendable {
    func account(id: UserID) async -> Account?
    func account(name: UserName) async -> Account?
}
