// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

private func moment(_ seconds: Double) -> BootTime {
    BootTime(microseconds: UInt64(seconds * 1_000_000))
}

private func claims(
    _ caller: String = ":1.1", of user: UInt32 = 1_000
) throws -> TicketClaims {
    TicketClaims(
        account: try account(user, "alice"), policy: .deviceOwnerAuthentication,
        method: .biometrics, authenticatedAt: moment(9), caller: caller,
        program: CallerProgram(name: "/usr/bin/app", evidence: .unverified))
}

private func account(_ id: UInt32, _ name: String) throws -> Account {
    Account(id: try #require(UserID(id)), name: try #require(UserName(name)))
}

private let challenge = [UInt8](repeating: 3, count: 16)

private func secret(_ number: Int) -> [UInt8] {
    [UInt8](repeating: 0, count: 30) + [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
}

/// A ledger that can be asked within an expectation.
private final class Ledger {
    private var ledger = TicketLedger()

    func issue(
        _ secret: [UInt8], for claims: TicketClaims, challenge: [UInt8], at now: BootTime
    ) { ledger.issue(secret, for: claims, challenge: challenge, at: now) }

    func redeem(_ secret: [UInt8], challenge: [UInt8], at now: BootTime) -> TicketClaims? {
        ledger.redeem(secret, challenge: challenge, at: now)
    }

    func hasOpen(at now: BootTime) -> Bool { ledger.hasOpen(at: now) }
}

@Suite struct `A ledger of tickets` {
    @Test func `lets each be redeemed once`() throws {
        let ledger = Ledger()
        #expect(!ledger.hasOpen(at: moment(10)))
        ledger.issue(secret(1), for: try claims(), challenge: challenge, at: moment(10))
        ledger.issue(secret(2), for: try claims(":1.2"), challenge: challenge, at: moment(10))
        let first = try claims(), second = try claims(":1.2")
        #expect(ledger.redeem(secret(2), challenge: challenge, at: moment(11)) == second)
        #expect(ledger.redeem(secret(2), challenge: challenge, at: moment(11)) == nil)
        #expect(ledger.hasOpen(at: moment(11)))
        #expect(ledger.redeem(secret(1), challenge: challenge, at: moment(11)) == first)
        #expect(ledger.redeem(secret(1), challenge: challenge, at: moment(11)) == nil)
        #expect(!ledger.hasOpen(at: moment(11)))
    }

    @Test(arguments: [(0, true), (29.999_999, true), (30, true), (30.000_001, false), (1e9, false)])
    func `keeps them half a minute`(age: Double, isGood: Bool) throws {
        let ledger = Ledger()
        ledger.issue(secret(1), for: try claims(), challenge: challenge, at: moment(10))
        #expect(ledger.hasOpen(at: moment(10 + age)) == isGood)
        let redeemed = ledger.redeem(secret(1), challenge: challenge, at: moment(10 + age))
        #expect((redeemed != nil) == isGood)
    }

    @Test(arguments: [
        [], [3], [UInt8](repeating: 3, count: 15), [UInt8](repeating: 3, count: 17),
        [UInt8](repeating: 4, count: 16),
    ]) func `takes one guess at the challenge`(guess: [UInt8]) throws {
        let ledger = Ledger()
        ledger.issue(secret(1), for: try claims(), challenge: challenge, at: moment(10))
        #expect(ledger.redeem(secret(1), challenge: guess, at: moment(10)) == nil)
        #expect(ledger.redeem(secret(1), challenge: challenge, at: moment(10)) == nil)
    }

    @Test func `loses nothing by guesses at tickets`() throws {
        let ledger = Ledger()
        ledger.issue(secret(1), for: try claims(), challenge: challenge, at: moment(10))
        for guess in [[], secret(2), secret(1) + [0], Array(secret(1).dropLast())] {
            #expect(ledger.redeem(guess, challenge: challenge, at: moment(10)) == nil)
        }
        #expect(ledger.redeem(secret(1), challenge: challenge, at: moment(10)) != nil)
    }

    @Test func `has room for 256, and then the oldest goes`() throws {
        let ledger = Ledger()
        for number in 0...256 {
            ledger.issue(
                secret(number), for: try claims(of: UInt32(number % 16)), challenge: challenge,
                at: moment(10))
        }
        #expect(ledger.redeem(secret(0), challenge: challenge, at: moment(10)) == nil)
        for number in 1...256 {
            #expect(ledger.redeem(secret(number), challenge: challenge, at: moment(10)) != nil)
        }
    }

    @Test func `has room for 32 of one user, who pushes out nobody else's`() throws {
        let ledger = Ledger()
        ledger.issue(secret(1_000), for: try claims(of: 7), challenge: challenge, at: moment(9))
        for number in 0...300 {
            ledger.issue(secret(number), for: try claims(), challenge: challenge, at: moment(10))
        }
        #expect(ledger.redeem(secret(268), challenge: challenge, at: moment(10)) == nil)
        #expect(ledger.redeem(secret(269), challenge: challenge, at: moment(10)) != nil)
        #expect(ledger.redeem(secret(1_000), challenge: challenge, at: moment(10)) != nil)
    }
}

@Suite struct `A success of before` {
    private static let policies: [(Policy, AuthenticationMethod, Bool)] = [
        (.deviceOwnerAuthenticationWithBiometrics, .biometrics, true),
        (.deviceOwnerAuthenticationWithBiometrics, .password, false),
        (.deviceOwnerAuthenticationWithBiometrics, .reused, false),
        (.deviceOwnerAuthentication, .biometrics, true),
        (.deviceOwnerAuthentication, .password, true),
        (.deviceOwnerAuthentication, .reused, false),
    ]

    @Test(arguments: policies)
    func `counts by its method`(policy: Policy, method: AuthenticationMethod, counts: Bool) throws {
        let alice = try account(1_000, "alice")
        let success = PastSuccess(of: alice, by: method, at: moment(10))
        #expect(
            success.counts(for: alice, under: policy, within: .seconds(5), at: moment(12))
                == counts)
    }

    @Test(arguments: [
        (10, 0, false), (10, 1, true), (11, 1, true), (11.000_001, 1, false), (310, 300, true),
        (310.000_001, 300, false), (9.999_999, 300, false),
    ]) func `counts as long as is wanted`(now: Double, seconds: Int64, counts: Bool) throws {
        let alice = try account(1_000, "alice")
        let success = PastSuccess(of: alice, by: .biometrics, at: moment(10))
        for policy in Policy.allCases {
            #expect(
                success.counts(
                    for: alice, under: policy, within: .seconds(seconds), at: moment(now))
                    == counts)
        }
    }

    @Test(arguments: [
        (UInt32(1_000), "alice", true), (1_001, "alice", false), (1_000, "bob", false),
    ])
    func `counts for its own user`(id: UInt32, name: String, counts: Bool) throws {
        let success = PastSuccess(
            of: try account(1_000, "alice"), by: .biometrics, at: moment(10))
        #expect(
            success.counts(
                for: try account(id, name), under: .deviceOwnerAuthentication,
                within: .seconds(5), at: moment(10)) == counts)
    }
}

@Suite struct `Secrets` {
    @Test func `are the same in every byte or not at all`() {
        let secret = [UInt8](1...32)
        #expect(isSameSecret(secret, secret))
        #expect(isSameSecret([], []))
        #expect(!isSameSecret(secret, []))
        #expect(!isSameSecret(secret, Array(secret.dropLast())))
        for index in secret.indices {
            var other = secret
            other[index] ^= 0x80
            #expect(!isSameSecret(secret, other))
        }
    }
}
