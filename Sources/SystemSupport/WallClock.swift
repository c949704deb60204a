// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// `CLOCK_REALTIME`: what people take for the time. It can be set, so nothing is decided by it.
package enum WallClock {
    /// Microseconds since 1970.
    package static func microseconds() -> UInt64 {
        var time = timespec()
        // SAFETY: the kernel fills the struct; this clock always exists.
        unsafe _ = clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000 &+ UInt64(clamping: time.tv_nsec / 1_000)
    }
}
