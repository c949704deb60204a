// SPDX-License-Identifier: Apache-2.0

/// A hold on a process that cannot come to mean another one, as a process id can.
package protocol ProcessHandle: AnyObject, Sendable {
    /// Whether the process has not ended yet. What was found under its id counts only if it is
    /// still so afterwards.
    var isAlive: Bool { get }
}

/// The process that opened a caller's connection, as the kernel told the bus.
package struct CallerProcess: Hashable, Sendable {
    package let id: UInt32
    /// Its security label, where the kernel gives it one.
    package let label: String?
    /// `nil` where the bus gives none.
    package let handle: (any ProcessHandle)?

    package init(id: UInt32, label: String? = nil, handle: (any ProcessHandle)? = nil) {
        self.id = id
        self.label = label
        self.handle = handle
    }

    /// Whether it is known that the process has ended: then whoever holds the connection is
    /// somebody else.
    package var hasEnded: Bool { handle.map { !$0.isAlive } ?? false }

    package static func == (a: Self, b: Self) -> Bool {
        a.id == b.id && a.label == b.label && a.handle === b.handle
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(label)
        hasher.combine(handle.map { ObjectIdentifier($0) })
    }
}
