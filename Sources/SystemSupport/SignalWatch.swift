// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Takes Unix signals as events of an executor instead of interruptions.
package final class SignalWatch: Sendable {
    private let descriptor: Descriptor
    private let signals: [Int32]

    /// Blocks the signals for this thread and those started later, so it belongs before them.
    package init?(_ signals: [Int32]) {
        var set = Self.set(of: signals)
        // SAFETY: the kernel copies the set.
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        guard
            let descriptor = Descriptor(
                adopting: unsafe signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK)))
        else { return nil }
        self.descriptor = descriptor
        self.signals = signals
    }

    /// Does work that can block this thread, which must not keep the process from ending: while it
    /// lasts, the signals do what they do by default.
    package func lettingThrough<T, E: Error>(_ work: () throws(E) -> T) throws(E) -> T {
        var set = Self.set(of: signals)
        // SAFETY: the kernel copies the set.
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        defer { unsafe pthread_sigmask(SIG_BLOCK, &set, nil) }
        return try work()
    }

    private static func set(of signals: [Int32]) -> sigset_t {
        var set = sigset_t()
        // SAFETY: the set is ours.
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal) }
        return set
    }

    /// Calls `action` on the executor's thread when one of the signals comes.
    package func start(on executor: PollExecutor, action: @escaping () -> Void) {
        let number = descriptor.rawValue
        _ = executor.watch(number, for: .input) { _ in
            var info = signalfd_siginfo()
            let size = MemoryLayout<signalfd_siginfo>.size
            // SAFETY: the kernel writes at most `size` bytes.
            guard unsafe read(number, &info, size) == size else { return }
            action()
        }
    }
}

/// Makes this process a poor place to look for secrets: no core dumps, no debugger of the same
/// user.
package func forbidCoreDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    // SAFETY: the kernel copies the limit.
    unsafe _ = setrlimit(__rlimit_resource_t(4), &none)
    localauth_forbid_dumps()
}

/// Lets the kernel end this process when the thread that has started it ends, and with it the
/// program that it was.
package func endWithParent() { localauth_end_with_parent() }
