// SPDX-License-Identifier: Apache-2.0

import Foundation
import SystemSupport
import Testing

@Suite struct `A locked value` {
    @Test func `loses no change of any thread`() {
        let counts = Locked<[Int: Int]>([:])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for _ in 0..<2_000 { counts.withLock { $0[thread % 2, default: 0] += 1 } }
        }
        #expect(counts.withLock(\.self) == [0: 8_000, 1: 8_000])
    }

    @Test func `is free again after an error`() {
        struct Failure: Error {}
        let value = Locked(1)
        #expect(throws: Failure.self) {
            try value.withLock { _ throws(Failure) in throw Failure() }
        }
        #expect(value.withLock { $0 } == 1)
    }

    @Test func `lets go of what it held`() {
        final class Held: Sendable {}
        var first: Held? = Held()
        var second: Held? = Held()
        weak let (weakFirst, weakSecond) = (first, second)
        var value: Locked<Held?>? = Locked(first)
        first = nil
        #expect(weakFirst != nil)
        value?.withLock { [second] in $0 = second }
        second = nil
        #expect(weakFirst == nil && weakSecond != nil)
        value = nil
        #expect(weakSecond == nil)
    }
}
