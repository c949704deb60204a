// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import Glibc
internal import SystemSupport

/// Ctrl-Z, and the way back: a stopped program leaves the terminal as it found it.
@BusQueue final class JobControl {
    private let stops: SignalWatch
    private let continuations: SignalWatch
    /// Done before the program stops.
    private let pause: () -> Void
    /// Done when it goes on, also when it was stopped without being asked (SIGSTOP).
    private let resume: () -> Void

    init?(pause: @escaping () -> Void, resume: @escaping () -> Void) {
        let stopping = Interruption.isIgnored(SIGTSTP) ? [] : [SIGTSTP]
        guard let stops = SignalWatch(stopping), let continuations = SignalWatch([SIGCONT]) else {
            return nil
        }
        (self.stops, self.continuations) = (stops, continuations)
        (self.pause, self.resume) = (pause, resume)
        stops.start(on: BusQueue.executor) { [unowned self] in
            BusQueue.assumeIsolated { stop() }
        }
        continuations.start(on: BusQueue.executor) { [unowned self] in
            BusQueue.assumeIsolated { self.resume() }
        }
    }

    private func stop() {
        pause()
        // Stops here. In a process group without a shell nobody could continue us, and the kernel
        // does not stop us.
        stops.lettingThrough { _ = raise(SIGTSTP) }
        var pending = sigset_t()
        // SAFETY (both): the set is ours.
        unsafe sigpending(&pending)
        // Whoever was stopped has been continued by a signal, which comes in its turn.
        if unsafe sigismember(&pending, SIGCONT) == 0 { resume() }
    }
}
