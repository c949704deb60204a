// SPDX-License-Identifier: Apache-2.0

package import SystemSupport

/// The one thread on which libdbus is used and on which everything of the service happens that
/// is not the hardware's, the disk's or a slow look-up's. Nothing may block it.
@globalActor package actor BusQueue {
    package static let shared = BusQueue()

    /// Must be started, or run on the main thread, before anything else of this module is used.
    package static var executor: PollExecutor { shared.executor }

    private nonisolated let executor = PollExecutor(name: "bus")

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    /// Starts a task of the bus queue: the way in which every task of the service is started.
    ///
    /// Without the preference, a task that has waited for a continuation goes on by way of
    /// Swift's own pool (6.3), although it only ever runs here; the pool's threads then stay.
    @discardableResult
    package static func task<T: Sendable>(
        @_implicitSelfCapture _ work: @escaping @Sendable @BusQueue () async -> T
    ) -> Task<T, Never> {
        Task(executorPreference: executor) { await work() }
    }

    /// Runs `work` on the bus queue, after everything that was handed to it before.
    package static func post(_ work: @escaping @Sendable @BusQueue () -> Void) {
        task { work() }
    }

    /// Waits without keeping the queue.
    @BusQueue package static func sleep(_ duration: Duration) async {
        await withCheckedContinuation { continuation in
            _ = executor.after(duration) { continuation.resume() }
        }
    }

    /// Waits for `work`, but no longer than so long; the work itself goes on.
    @BusQueue package static func wait(
        atMost limit: Duration, for work: @escaping @Sendable @BusQueue () async -> Void
    ) async {
        let wait = BoundedWait()
        await withCheckedContinuation { continuation in
            wait.continuation = continuation
            let timer = executor.after(limit) { BusQueue.assumeIsolated { wait.end() } }
            task {
                await work()
                executor.cancelTimer(timer)
                wait.end()
            }
        }
    }

    /// Runs `work` at once; traps when called on another thread.
    package static func assumeIsolated<T: Sendable>(_ work: @BusQueue () -> T) -> T {
        shared.preconditionIsolated()
        return withoutActuallyEscaping(work) { work in
            // SAFETY: only the isolation is taken off, and the line above has checked it; this is
            // how the standard library does it for the main actor.
            unsafe unsafeBitCast(work, to: (() -> T).self)()
        }
    }
}

/// A wait that the first of two events ends.
@BusQueue private final class BoundedWait {
    var continuation: CheckedContinuation<Void, Never>?

    func end() {
        continuation?.resume()
        continuation = nil
    }
}
