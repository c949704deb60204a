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
