// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Owns one open file descriptor and closes it.
package struct Descriptor: ~Copyable, Sendable {
    package let rawValue: Int32

    /// Takes over a descriptor that the caller owned; `nil` for a negative number, which is how
    /// system calls report failure.
    package init?(adopting rawValue: Int32) {
        guard rawValue >= 0 else { return nil }
        self.rawValue = rawValue
    }

    deinit { close(rawValue) }
}

/// A failed system call.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32
    package init(code: Int32) { self.code = code }

    /// The error of the system call that just failed on this thread.
    package static var last: SystemError { SystemError(code: errno) }

    package var description: String {
        // strerror_r's result is in the language of the process; the daemon sets none.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            // SAFETY: glibc writes at most `count` bytes, with a NUL, and we copy them out.
            guard let start = buffer.baseAddress,
                unsafe strerror_r(code, start, buffer.count) == 0
            else { return "error \(code)" }
            return unsafe String(cString: start)
        }
    }
}
