// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// `CLOCK_BOOTTIME`: counts from the machine's start, also during suspend, and cannot be set.
package enum BootClock {
    package static func nanoseconds() -> UInt64 {
        var time = timespec()
        // SAFETY: the kernel fills the struct; this clock exists on every Linux since 2.6.39.
        unsafe _ = clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    package static func microseconds() -> UInt64 { nanoseconds() / 1_000 }
}
