// SPDX-License-Identifier: Apache-2.0

/// The one serial queue on which everything of libfprint happens. Global, because GLib's default
/// main context is.
@globalActor package actor ReaderQueue {
    package static let shared = ReaderQueue()
    static let executor = GLibExecutor()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe Self.executor.asUnownedSerialExecutor()
    }

    /// Runs `work` on the queue after everything that was posted before it.
    static func post(_ work: @escaping @Sendable @ReaderQueue () -> Void) {
        executor.post { assumeIsolated(work) }
    }

    /// Starts a task of the queue: the way in which every task of this module is started.
    ///
    /// Without the preference, a task that has waited for a continuation goes on by way of
    /// Swift's own pool (6.3), although it only ever runs here; the pool's threads then stay.
    static func task(
        @_implicitSelfCapture _ work: @escaping @Sendable @ReaderQueue () async -> Void
    ) {
        _ = Task(executorPreference: executor) { await work() }
    }

    /// Enters the queue from a C callback that runs on its thread; traps on any other.
    nonisolated static func assumeIsolated<T>(_ work: @ReaderQueue () -> T) -> T {
        shared.preconditionIsolated()
        return withoutActuallyEscaping(work) { work in
            // SAFETY: the two types differ in isolation only, which was checked just now.
            let entered = unsafe unsafeBitCast(work, to: (() -> T).self)
            return entered()
        }
    }
}
