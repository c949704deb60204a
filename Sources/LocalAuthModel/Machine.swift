// SPDX-License-Identifier: Apache-2.0

/// The lid of a portable machine. What tells of none has it open.
package struct LidState: Hashable, Sendable {
    package var isClosed: Bool
    /// Whether the machine is in a docking station, or shows its picture elsewhere too.
    package var isDocked: Bool

    package init(isClosed: Bool, isDocked: Bool) {
        self.isClosed = isClosed
        self.isDocked = isDocked
    }

    package static let open = LidState(isClosed: false, isDocked: false)

    /// Whether a person can get at a reader in this place.
    ///
    /// Where nothing tells the place, a closed machine that is used all the same, at a dock or
    /// another screen, is used with what stands beside it.
    package func leavesAccessible(_ placement: ReaderPlacement) -> Bool {
        guard isClosed else { return true }
        switch placement {
        case .builtIn: return false
        case .external: return true
        case .unknown: return isDocked
        }
    }
}

/// What the machine as a whole does: its lid and its sleep.
package protocol MachineWatching: Sendable {
    /// Begins to watch. What holds now is told before it returns: the lid, and `sleep` when the
    /// machine is going to sleep already.
    ///
    /// `sleep` and `wake` are called in turn and never at the same time.
    /// - Parameters:
    ///   - lid: called with each new state of the lid.
    ///   - sleep: the machine is about to sleep. It waits for the return, though not for long.
    ///   - wake: the machine is awake again.
    func start(
        lid: @escaping @Sendable (LidState) -> Void,
        sleep: @escaping @Sendable () async -> Void, wake: @escaping @Sendable () async -> Void
    ) async
}
