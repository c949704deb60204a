// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import Glibc
internal import SystemSupport

/// The signals by which a person or a system ends the program, taken one after the other.
@BusQueue final class Interruption {
    nonisolated static let signals = [SIGINT, SIGTERM, SIGHUP]

    private let watch: SignalWatch
    /// What the next signal does.
    var action: () -> Void

    /// From now on the signals do not end the process by themselves. One that is ignored, as
    /// `nohup` and shells have it for background work, stays ignored.
    init?(_ action: @escaping () -> Void) {
        guard let watch = SignalWatch(Self.signals.filter { !Self.isIgnored($0) }) else {
            return nil
        }
        self.watch = watch
        self.action = action
        watch.start(on: BusQueue.executor) { [unowned self] in
            BusQueue.assumeIsolated { self.action() }
        }
    }

    private nonisolated static func isIgnored(_ signal: Int32) -> Bool {
        var present = sigaction()
        // SAFETY: the kernel fills our value. SIG_IGN is the number 1, which Swift does not
        // compare as a function.
        unsafe _ = sigaction(signal, nil, &present)
        return unsafe unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
