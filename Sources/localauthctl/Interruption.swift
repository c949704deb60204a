// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import Glibc
internal import SystemSupport

/// The signals by which a person or a system ends the program, taken one after the other.
@BusQueue final class Interruption {
    /// Who wants it to end.
    enum Source { case key, system }

    nonisolated static let signals = keys + [SIGTERM, SIGHUP]
    // Ctrl-C and Ctrl-\; the latter would leave the terminal as it is at that moment.
    private nonisolated static let keys = [SIGINT, SIGQUIT]

    private let watches: [SignalWatch]
    /// What the next signal does.
    var action: (Source) -> Void

    /// From now on the signals do not end the process by themselves. One that is ignored, as
    /// `nohup` and shells have it for background work, stays ignored.
    init?(_ action: @escaping (Source) -> Void) {
        let heeded = Self.signals.filter { !Self.isIgnored($0) }
        guard let keys = SignalWatch(heeded.filter { Self.keys.contains($0) }),
            let system = SignalWatch(heeded.filter { !Self.keys.contains($0) })
        else { return nil }
        watches = [keys, system]
        self.action = action
        for (watch, source) in [(keys, Source.key), (system, .system)] {
            watch.start(on: BusQueue.executor) { [unowned self] in
                BusQueue.assumeIsolated { self.action(source) }
            }
        }
    }

    nonisolated static func isIgnored(_ signal: Int32) -> Bool {
        var present = sigaction()
        // SAFETY: the kernel fills our value. SIG_IGN is the number 1, which Swift does not
        // compare as a function.
        unsafe _ = sigaction(signal, nil, &present)
        return unsafe unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
