// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import TestKit
import Testing

private let boot = BootID.sample(1)
private let nextBoot = BootID.sample(2)

private let byPassword = LockoutRules()
private let timed: LockoutRules = {
    var rules = LockoutRules()
    rules.recovery = .timed
    return rules
}()

extension LockoutRecord {
    /// A record after so many misses, all at the same moment.
    fileprivate init(_ misses: Int, _ rules: LockoutRules, at time: BootTime = .seconds(100)) {
        self.init()
        for _ in 0..<misses { charge(rules, at: time, boot: boot) }
    }
}

@Suite struct `A lockout record` {
    @Test(arguments: 0...4) func `is open below the limit`(misses: Int) {
        let standing = LockoutRecord(misses, byPassword)
            .standing(byPassword, at: .seconds(100), boot: boot)
        #expect(standing == .open(attemptsLeft: UInt32(5 - misses)))
        #expect(standing.attemptsLeft == UInt32(5 - misses))
        #expect(standing.secondsLeft == 0)
    }

    @Test(arguments: [5, 6, 19, 20, 100], [UInt64(100), 130, 1_000_000])
    func `stays locked for ever without timed recovery`(misses: Int, time: UInt64) {
        let record = LockoutRecord(misses, byPassword)
        for boot in [boot, nextBoot] {
            let standing = record.standing(byPassword, at: .seconds(time), boot: boot)
            #expect(standing == .locked(for: nil))
            #expect(standing.attemptsLeft == 0)
        }
        #expect(record.settled(byPassword, at: .seconds(time), boot: boot) == record)
    }

    @Test(arguments: [(UInt64(100), UInt32(30)), (101, 29), (129, 1)])
    func `says how long a timed lockout lasts`(time: UInt64, left: UInt32) {
        let standing = LockoutRecord(5, timed).standing(timed, at: .seconds(time), boot: boot)
        #expect(standing == .locked(for: .seconds(left)))
        #expect(standing.secondsLeft == left)
    }

    @Test func `rounds the seconds up`() {
        #expect(LockoutStanding.locked(for: .microseconds(1)).secondsLeft == 1)
        #expect(LockoutStanding.locked(for: .zero).secondsLeft == 0)
        #expect(LockoutStanding.locked(for: nil).secondsLeft == 0)
    }

    @Test func `opens after the period, with all attempts`() {
        let record = LockoutRecord(5, timed)
        #expect(
            record.standing(timed, at: .seconds(130), boot: boot) == .open(attemptsLeft: 5))
        var settled = record.settled(timed, at: .seconds(130), boot: boot)
        #expect(settled == LockoutRecord(misses: 0, total: 5, locked: nil))
        settled.charge(timed, at: .seconds(131), boot: boot)
        #expect(
            settled.standing(timed, at: .seconds(131), boot: boot) == .open(attemptsLeft: 4))
    }

    @Test func `does not settle before its time`() {
        let record = LockoutRecord(5, timed)
        #expect(record.settled(timed, at: .seconds(129), boot: boot) == record)
        #expect(record.settled(timed, at: .seconds(99), boot: boot) == record)
    }

    @Test func `begins its wait anew with another boot`() {
        let record = LockoutRecord(5, timed)
        #expect(
            record.standing(timed, at: .seconds(5), boot: nextBoot)
                == .locked(for: .seconds(25)))
        #expect(
            record.standing(timed, at: .seconds(30), boot: nextBoot) == .open(attemptsLeft: 5))
    }

    @Test func `is locked by its count even if it does not say since when`() {
        let record = LockoutRecord(misses: 7, total: 7, locked: nil)
        for rules in [byPassword, timed] {
            #expect(record.standing(rules, at: .seconds(900), boot: boot) == .locked(for: nil))
        }
    }

    @Test func `gives no attempt beyond the twentieth`() {
        var record = LockoutRecord(misses: 0, total: 18, locked: nil)
        for _ in 0..<2 { record.charge(timed, at: .seconds(1), boot: boot) }
        #expect(record.total == 20)
        record = LockoutRecord(
            misses: 5, total: 18,
            locked: LockoutRecord.Locked(at: .seconds(1), boot: boot))
        #expect(
            record.standing(timed, at: .seconds(31), boot: boot) == .open(attemptsLeft: 2))
        record = record.settled(timed, at: .seconds(31), boot: boot)
        for _ in 0..<2 { record.charge(timed, at: .seconds(32), boot: boot) }
        #expect(record.standing(timed, at: .seconds(900), boot: boot) == .locked(for: nil))
    }

    @Test func `survives absurd numbers`() {
        var record = LockoutRecord(misses: .max, total: .max, locked: nil)
        record.charge(timed, at: BootTime(microseconds: .max), boot: boot)
        #expect(record.total == .max)
        #expect(record.standing(timed, at: .seconds(0), boot: boot).isLocked)
        #expect(LockoutRecord().isClear)
        #expect(!record.isClear)
    }

    @Test(arguments: 1...64)
    func `never opens earlier than a plain count of the same misses`(seed: Int) {
        for rules in [byPassword, timed] {
            var random = SplitMix64(seed: UInt64(seed))
            var record = LockoutRecord()
            var plain = PlainCount()
            var (now, boot) = (UInt64.random(in: 0...40, using: &random), 0)
            for _ in 0..<80 {
                switch UInt8.random(in: 0...19, using: &random) {
                case 0...8:
                    record = record.settled(rules, at: .seconds(now), boot: .sample(boot))
                    record.charge(rules, at: .seconds(now), boot: .sample(boot))
                    plain.misses.append((now, boot))
                case 9: (record, plain) = (LockoutRecord(), PlainCount())
                case 10: (now, boot) = (UInt64.random(in: 0...40, using: &random), boot + 1)
                case 11: now += UInt64.random(in: 25...35, using: &random)
                default: now += UInt64.random(in: 0...9, using: &random)
                }
                let standing = record.standing(rules, at: .seconds(now), boot: .sample(boot))
                #expect(standing.isLocked == plain.isLocked(rules, at: (now, boot)))
            }
        }
    }
}

/// The rules in the plainest words: all misses since the last success are kept, and gone through
/// from the beginning for every question.
private struct PlainCount {
    typealias Moment = (second: UInt64, boot: Int)
    var misses: [Moment] = []

    func isLocked(_ rules: LockoutRules, at now: Moment) -> Bool {
        var (count, total) = (0, 0)
        var since: Moment?
        func hasWaited(_ until: Moment) -> Bool {
            guard rules.recovery == .timed, total < 20, let since else { return false }
            return until.second - (since.boot == until.boot ? since.second : 0) >= 30
        }
        for miss in misses {
            if hasWaited(miss) { (count, since) = (max(0, 5 - (20 - total)), nil) }
            total += 1
            count += 1
            if count >= 5, since == nil { since = miss }
        }
        return since != nil && !hasWaited(now)
    }
}
