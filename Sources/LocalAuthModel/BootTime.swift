// SPDX-License-Identifier: Apache-2.0

/// A moment of `CLOCK_BOOTTIME`, which also runs during suspend and cannot be set.
///
/// Swift's `ContinuousClock` reads the same clock but does not give its value away, and records
/// on disk and the bus need the number.
package struct BootTime: Hashable, Comparable, Sendable {
    package let microseconds: UInt64

    package init(microseconds: UInt64) { self.microseconds = microseconds }

    package static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }

    package static func + (time: Self, duration: Duration) -> Self {
        Self(microseconds: time.microseconds &+ duration.wholeMicroseconds)
    }

    /// How long from `earlier` to here; zero if `earlier` is later.
    package func since(_ earlier: Self) -> Duration {
        .microseconds(Int64(clamping: microseconds - min(earlier.microseconds, microseconds)))
    }
}

extension Duration {
    /// Whole microseconds, never negative.
    package var wholeMicroseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return UInt64(seconds) &* 1_000_000 &+ UInt64(attoseconds / 1_000_000_000_000)
    }
}
