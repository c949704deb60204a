// SPDX-License-Identifier: Apache-2.0

/// How many things may want the readers at a time, the one that has them included.
package enum WaitingLimit {
    package static let perUser = 4
    package static let inAll = 32
}

/// Who may drive the readers next: first come, first served, with a limit for each user and for
/// all together, so that nobody can keep the others out.
package struct WaitingLine<ID: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        let id: ID
        let user: UserID
    }

    private var entries: [Entry] = []
    private let limitPerUser: Int
    private let limit: Int

    /// The limits count the one whose turn it is too.
    package init(limitPerUser: Int = WaitingLimit.perUser, limit: Int = WaitingLimit.inAll) {
        self.limitPerUser = limitPerUser
        self.limit = limit
    }

    /// Whose turn it is.
    package var first: ID? { entries.first?.id }
    package var isEmpty: Bool { entries.isEmpty }

    /// Whether the user may still join.
    package func hasRoom(for user: UserID) -> Bool {
        entries.count < limit && entries.count(where: { $0.user == user }) < limitPerUser
    }

    /// Joins at the end; false when the line is full.
    package mutating func join(_ id: ID, user: UserID) -> Bool {
        guard hasRoom(for: user) else { return false }
        entries.append(Entry(id: id, user: user))
        return true
    }

    /// Leaves, from wherever it stands.
    package mutating func leave(_ id: ID) {
        entries.removeAll { $0.id == id }
    }
}
