// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthModel
import SystemSupport
import Testing

@testable import LocalAuthService

@Suite(.timeLimit(.minutes(1))) struct `A lockout keeper` {
    /// The keeper, its disk, and what it has told.
    @BusQueue private final class Fixture {
        let store = FakeLockouts()
        let told = Journal<Bool>()
        let keeper: LockoutKeeper

        init(_ rules: LockoutRules) {
            keeper = LockoutKeeper(
                store: store, rules: rules, boot: .sample, retryDelay: .milliseconds(20),
                log: .silent)
            keeper.onChange = { [told] account, standing in
                #expect(account == .alice)
                told.add(standing.isLocked)
            }
        }
    }

    private static func with(
        _ rules: LockoutRules = LockoutRules(),
        _ body: @escaping @Sendable @BusQueue (Fixture) async throws -> Void
    ) async throws {
        startBusQueue()
        try await body(await Fixture(rules))
    }

    private static let locked = LockoutRecord(
        misses: 5, total: 5,
        locked: LockoutRecord.Locked(at: BootTime(microseconds: 0), boot: .sample))

    @Test func `writes each miss down and tells once that it locks`() async throws {
        try await Self.with { fixture in
            for left in [UInt32(4), 3, 2, 1, 0, 0] {
                #expect(await fixture.keeper.charge(.alice).attemptsLeft == left)
            }
            #expect(fixture.store.writes.entries.map(\.total) == [1, 2, 3, 4, 5, 6])
            #expect(fixture.told.entries == [true])
            #expect(await fixture.keeper.standing(of: .bob) == .open(attemptsLeft: 5))
        }
    }

    @Test func `reads each user once`() async throws {
        try await Self.with { fixture in
            fixture.store.readings[.alice] = .record(
                LockoutRecord(misses: 2, total: 2, locked: nil))
            for _ in 0..<3 {
                #expect(await fixture.keeper.standing(of: .alice) == .open(attemptsLeft: 3))
            }
            #expect(fixture.store.reads == 1)
        }
    }

    @Test func `is locked by a record that it cannot read, until it is cleared`() async throws {
        try await Self.with { fixture in
            fixture.store.readings[.alice] = .unreadable
            #expect(await fixture.keeper.standing(of: .alice) == .locked(for: nil))
            #expect(await fixture.keeper.charge(.alice) == .locked(for: nil))
            #expect(fixture.store.writes.entries == [])
            try await fixture.keeper.clear(.alice)
            #expect(await fixture.keeper.standing(of: .alice) == .open(attemptsLeft: 5))
            #expect(fixture.told.entries == [false])
        }
    }

    @Test func `is locked by a miss that it cannot write down`() async throws {
        try await Self.with { fixture in
            fixture.store.failure = .io(28)
            #expect(await fixture.keeper.charge(.alice) == .locked(for: nil))
            #expect(await fixture.keeper.standing(of: .alice) == .locked(for: nil))
            #expect(fixture.told.entries == [true])
            await #expect(throws: StorageFailure.io(28)) {
                try await fixture.keeper.clear(.alice)
            }
            #expect(fixture.told.entries == [true])
            fixture.store.failure = nil
            try await fixture.keeper.clear(.alice)
            #expect(fixture.told.entries == [true, false])
        }
    }

    @Test func `writes a lockout down as soon as the disk takes it again`() async throws {
        try await Self.with { fixture in
            fixture.store.failure = .io(28)
            _ = await fixture.keeper.charge(.alice)
            // Whoever left now would forget it.
            #expect(!fixture.keeper.isWritten)
            fixture.store.failure = nil
            await fixture.store.writes.meets { $0.last?.misses == 5 }
            #expect(fixture.store.writes.entries.last?.locked != nil)
            #expect(await fixture.keeper.standing(of: .alice) == .locked(for: nil))
            #expect(await fixture.keeper.charge(.alice) == .locked(for: nil))
            #expect(fixture.keeper.isWritten)
            #expect(fixture.told.entries == [true])
        }
    }

    @Test func `is not ended by a match, only its misses are`() async throws {
        try await Self.with { fixture in
            for _ in 1...4 { _ = await fixture.keeper.charge(.alice) }
            let cleared = try await fixture.keeper.clearAfterMatch(.alice)
            #expect(cleared)
            #expect(await fixture.keeper.standing(of: .alice) == .open(attemptsLeft: 5))
            for _ in 1...5 { _ = await fixture.keeper.charge(.alice) }
            let refused = try await fixture.keeper.clearAfterMatch(.alice)
            #expect(!refused)
            #expect(await fixture.keeper.standing(of: .alice) == .locked(for: nil))
            try await fixture.keeper.clear(.alice)
            #expect(await fixture.keeper.standing(of: .alice) == .open(attemptsLeft: 5))
        }
    }

    @Test func `writes nothing where there is nothing to forget`() async throws {
        try await Self.with { fixture in
            try await fixture.keeper.clear(.alice)
            #expect(fixture.store.writes.entries == [])
            #expect(fixture.told.entries == [])
        }
    }

    @Test func `loses no miss of several at once`() async throws {
        try await Self.with { fixture in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { _ = await fixture.keeper.charge(.alice) }
                }
            }
            #expect(
                fixture.store.readings[.alice]
                    == fixture.store.writes.entries.last.map {
                        .record($0)
                    })
            #expect(fixture.store.writes.entries.map(\.total) == Array(1...20))
            #expect(fixture.told.entries == [true])
        }
    }

    @Test func `agrees with the disk when a miss comes while misses are forgotten`() async throws {
        try await Self.with { fixture in
            fixture.store.readings[.alice] = .record(
                LockoutRecord(misses: 4, total: 4, locked: nil))
            fixture.store.isSlow = true
            async let cleared: Void = fixture.keeper.clear(.alice)
            await fixture.store.writes.reaches(1)
            async let charged = fixture.keeper.charge(.alice)
            _ = await fixture.keeper.standing(of: .alice)
            fixture.store.finishWrite()
            await fixture.store.writes.reaches(2)
            fixture.store.finishWrite()
            try await cleared
            #expect(await charged == .open(attemptsLeft: 4))
            #expect(
                fixture.store.readings[.alice]
                    == .record(LockoutRecord(misses: 1, total: 1, locked: nil)))
            #expect(fixture.told.entries == [])
        }
    }

    @Test func `tells the end of a lockout that began while it was being ended`() async throws {
        try await Self.with { fixture in
            fixture.store.readings[.alice] = .record(
                LockoutRecord(misses: 4, total: 4, locked: nil))
            fixture.store.isSlow = true
            async let charged = fixture.keeper.charge(.alice)
            await fixture.store.writes.reaches(1)
            async let cleared: Void = fixture.keeper.clear(.alice)
            _ = await fixture.keeper.standing(of: .alice)
            fixture.store.finishWrite()
            await fixture.store.writes.reaches(2)
            fixture.store.finishWrite()
            #expect(await charged.isLocked)
            try await cleared
            #expect(fixture.told.entries == [true, false])
        }
    }

    @Test func `tells the end of each timed lockout`() async throws {
        var rules = LockoutRules()
        rules.recovery = .timed
        rules.period = .milliseconds(500)
        try await Self.with(rules) { fixture in
            for _ in 0..<5 { _ = await fixture.keeper.charge(.alice) }
            // Ended early, and begun anew before the first would have ended.
            try await fixture.keeper.clear(.alice)
            for _ in 0..<5 { _ = await fixture.keeper.charge(.alice) }
            await fixture.told.reaches(4)
            #expect(fixture.told.entries == [true, false, true, false])
            #expect(await fixture.keeper.standing(of: .alice) == .open(attemptsLeft: 5))
        }
    }

    @Test func `tells the end of a timed lockout of an earlier run`() async throws {
        var rules = LockoutRules()
        rules.recovery = .timed
        rules.period = .milliseconds(500)
        try await Self.with(rules) { fixture in
            let now = BootTime(microseconds: BootClock.microseconds())
            var record = Self.locked
            record.locked?.at = now
            fixture.store.readings[.alice] = .record(record)
            #expect(await fixture.keeper.standing(of: .alice).isLocked)
            await fixture.told.reaches(1)
            #expect(fixture.told.entries == [false])
        }
    }
}
