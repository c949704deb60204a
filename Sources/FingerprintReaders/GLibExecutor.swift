// SPDX-License-Identifier: Apache-2.0

internal import CGLib
internal import CLinux
internal import Glibc
internal import Synchronization

/// The thread that owns GLib's global default main context, and runs an actor's jobs on it.
///
/// It must be the *default* context, and no other may be pushed: `fp_context_enumerate` and
/// libgusb's hot-plug use the default one whatever the caller has pushed. Nobody else in the
/// process may iterate it.
///
/// The thread begins with the first job. It ends when it is not wanted and has no job left; a job
/// that comes later begins it anew, so that no caller waits for ever.
final class GLibExecutor: SerialExecutor, TaskExecutor {
    private struct State {
        var pending = 0
        var isRunning = false
        var isWanted = false
    }

    private final class Work {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    private let state = Mutex(State())

    // MARK: Jobs

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // In both roles: else each call of an isolated function would go round through the queue.
        post { [self] in
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
    }

    /// Runs `work` on the thread after everything that was posted before it.
    func post(_ work: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state in
            state.pending += 1
            defer { state.isRunning = true }
            return !state.isRunning
        }
        let counted = Work { [self] in
            work()
            state.withLock { $0.pending -= 1 }
        }
        // A source of its own for each job: `g_main_context_invoke` would run it at once, nested
        // in the job that posts it.
        // SAFETY: the source is dispatched once, and takes over the retained reference there.
        unsafe attach(g_idle_source_new(), Unmanaged.passRetained(counted).toOpaque())
        if mustStart { startThread() }
    }

    private func attach(_ source: UnsafeMutablePointer<GSource>?, _ work: UnsafeMutableRawPointer) {
        // SAFETY: the context holds the source from here on until it has been dispatched.
        unsafe g_source_set_priority(source, G_PRIORITY_DEFAULT)
        unsafe g_source_set_callback(
            source,
            { data in
                guard let data = unsafe data else { return G_SOURCE_REMOVE }
                unsafe Unmanaged<Work>.fromOpaque(data).takeRetainedValue().run()
                return G_SOURCE_REMOVE
            }, work, nil)
        unsafe g_source_attach(source, nil)
        unsafe g_source_unref(source)
    }

    // MARK: Isolation

    func isIsolatingCurrentContext() -> Bool? {
        // NULL is the default context.
        g_main_context_is_owner(nil) != 0
    }

    func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on the reader thread")
    }

    // MARK: The thread

    /// Whether the thread waits for events although it has no job.
    func setWanted(_ isWanted: Bool) {
        state.withLock { $0.isWanted = isWanted }
        // NULL is the default context.
        g_main_context_wakeup(nil)
    }

    private func startThread() {
        var thread = pthread_t()
        let retained = unsafe Unmanaged.passRetained(self)
        // SAFETY: the new thread takes over the reference that was just retained.
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<GLibExecutor>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, retained.toOpaque())
        precondition(result == 0, "no thread left for the readers")
        pthread_detach(thread)
    }

    private func run() {
        unsafe localauth_set_thread_name("readers")
        // NULL is the default context throughout.
        guard g_main_context_acquire(nil) != 0 else {
            preconditionFailure("another thread iterates GLib's default context")
        }
        var isOver = false
        while !isOver {
            g_main_context_iteration(nil, 1)
            isOver = state.withLock { state in
                guard state.pending == 0, !state.isWanted else { return false }
                // Released before another thread can be started to acquire it.
                g_main_context_release(nil)
                state.isRunning = false
                return true
            }
        }
    }
}
