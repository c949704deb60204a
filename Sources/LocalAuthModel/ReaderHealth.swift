// SPDX-License-Identifier: Apache-2.0

/// How a reader has worked lately.
///
/// One that fails again and again is left alone for a while, longer each time, so that no caller
/// that keeps asking can keep the machine busy with it. It does not rest for its first failures:
/// those happen, and people try again at once.
package struct ReaderHealth: Hashable, Sendable {
    /// Failures in a row that cost nothing.
    package static let tolerated: UInt32 = 2
    package static let firstRest = Duration.seconds(1)
    package static let longestRest = Duration.seconds(60)

    private var failures: UInt32 = 0
    /// When it may be tried again; `nil` while it works.
    package private(set) var restsUntil: BootTime?

    package init() {}

    /// It could not be opened, or its work ended with an error that is not the finger's.
    package mutating func fail(at now: BootTime) {
        failures = min(failures + 1, 100)
        guard failures > Self.tolerated else { return }
        let doublings = min(failures - Self.tolerated - 1, 16)
        restsUntil = now + min(Self.firstRest * (1 << Int(doublings)), Self.longestRest)
    }

    /// It has compared a touch, whatever came of it.
    package mutating func succeed() { self = Self() }

    package func isResting(at now: BootTime) -> Bool { restsUntil.map { now < $0 } ?? false }
}

extension ReaderFailure {
    /// Whether it speaks against the reader: other failures are somebody's doing, or pass by
    /// themselves.
    package var isFault: Bool {
        switch self {
        case .io, .notSupported: true
        case .removed, .busy, .tooHot, .cancelled, .noUsablePrints, .duplicate, .storageFull,
            .notOnReader, .inaccessible:
            false
        }
    }
}
