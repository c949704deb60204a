// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Ends the process after so long, whatever its other threads do or wait for meanwhile.
package func endProcess(after delay: Duration, status: Int32) {
    let (seconds, attoseconds) = delay.components
    let end = End(
        delay: timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000)),
        status: status)
    var thread = pthread_t()
    let retained = unsafe Unmanaged.passRetained(end)
    // SAFETY: the new thread takes over the reference that was just retained.
    let result = unsafe pthread_create(
        &thread, nil,
        { argument in
            guard let argument = unsafe argument else { return nil }
            let end = unsafe Unmanaged<End>.fromOpaque(argument).takeRetainedValue()
            var rest = end.delay
            var left = timespec()
            // Signals only interrupt it.
            while unsafe nanosleep(&rest, &left) != 0 && errno == EINTR { rest = left }
            _exit(end.status)
        }, retained.toOpaque())
    guard result == 0 else { return unsafe retained.release() }
    pthread_detach(thread)
}

private final class End: Sendable {
    let delay: timespec
    let status: Int32

    init(delay: timespec, status: Int32) {
        self.delay = delay
        self.status = status
    }
}
