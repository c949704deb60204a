// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

@Suite struct `A reader's health` {
    /// A reader that has failed so often, each time at the moment when it might be tried again.
    private func failing(_ times: Int) -> (health: ReaderHealth, rest: Duration) {
        var (health, now) = (ReaderHealth(), BootTime.seconds(100))
        for _ in 0..<times {
            now = health.restsUntil ?? now
            health.fail(at: now)
        }
        return (health, health.restsUntil?.since(now) ?? .zero)
    }

    @Test func `bears a failure or two, and then rests longer each time, but not for ever`() {
        let rests = (0...12).map { failing($0).rest.components.seconds }
        #expect(rests == [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
        #expect(failing(1_000).rest == .seconds(60))
    }

    @Test func `rests until its time and not longer`() throws {
        let (health, _) = failing(4)
        let end = try #require(health.restsUntil)
        #expect(health.isResting(at: BootTime(microseconds: end.microseconds - 1)))
        #expect(!health.isResting(at: end))
    }

    @Test func `is good again once it has compared a touch`() {
        var (health, _) = failing(7)
        health.succeed()
        #expect(health == ReaderHealth())
        health.fail(at: .seconds(1))
        #expect(health.restsUntil == nil)
    }

    @Test func `suffers from nothing that is not its fault`() {
        let faults = ReaderFailure.allCases.filter(\.isFault)
        #expect(faults == [.notSupported, .io])
    }
}
