// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A standard stream that may be a terminal, a pipe that nobody reads any more, or a full disk.
struct OutputStream {
    let descriptor: Int32
    /// The error after which nothing more is written.
    private(set) var failure: Int32?

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Whether something was lost that somebody wanted to have.
    var isLossy: Bool { failure != nil && failure != EPIPE }

    /// Writes it all, or notes why not.
    mutating func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty, failure == nil {
            waitUntilWritable()
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
    private func waitUntilWritable() {
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            var pending = sigset_t()
            // SAFETY (all): the values are ours and outlive the calls.
            guard unsafe poll(&entry, 1, 250) == 0 else { return }
            unsafe sigpending(&pending)
            for signal in Interruption.signals where unsafe sigismember(&pending, signal) == 1 {
                exit(ExitCode.canceled.rawValue)
            }
        }
    }
}
