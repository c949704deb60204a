// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A standard stream that may be a terminal, a pipe that nobody reads any more, or a full disk.
struct OutputStream {
    let descriptor: Int32
    /// The error after which nothing more is written.
    private(set) var failure: Int32?
    /// Whether there is no time to wait for a reader any more.
    var isHurried = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Whether something was lost that somebody wanted to have.
    var isLossy: Bool { failure != nil && failure != EPIPE }

    /// Writes it all, or notes why not.
    mutating func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty, failure == nil {
            guard isHurried ? isWritable(within: 0) : waitUntilWritable() else {
                failure = EAGAIN
                return
            }
            // Not more than fits whenever a pipe is ready (PIPE_BUF).
            // SAFETY: the array outlives the call.
            let count = unsafe bytes.prefix(4_096).withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                bytes.removeFirst(count)
            } else if errno != EINTR && errno != EAGAIN {
                failure = errno
            }
        }
    }

    /// Waits for a slow reader, but not when we are told to end: the signals are blocked, for the
    /// bus queue to take, and this is its thread.
    private func waitUntilWritable() -> Bool {
        while !isWritable(within: 250) {
            var pending = sigset_t()
            // SAFETY: the value is ours and outlives the calls.
            unsafe sigpending(&pending)
            for signal in Interruption.signals where unsafe sigismember(&pending, signal) == 1 {
                exit(ExitCode.canceled.rawValue)
            }
        }
        return true
    }

    /// Whether something can be written, or never again, after so many milliseconds at most.
    private func isWritable(within limit: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // SAFETY: the value is ours and outlives the call.
        return unsafe poll(&entry, 1, limit) != 0
    }
}
