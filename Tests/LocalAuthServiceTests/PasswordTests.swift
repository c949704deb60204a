// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)
private let match = ScanVerdict.matched(StoredPrint.sample.id)
private typealias Reply = SubmitPassword.Reply

@Suite(.timeLimit(.minutes(1))) struct `A password in the prompt` {
    @Test func `can be typed at any moment, beside the finger`() async throws {
        try await withAgent { fixture, client, agent in
            async let result = client.evaluate(policy: 2)
            let id = await agent.prompt()
            await fixture.readers.calls.has("scan 1")
            let reply = try await agent.enter(FakePasswords.right, id)
            #expect(reply.accepted)
            let values = try await result
            #expect(values["method"] == .string("password"))
            #expect(values["policy"] == .uint32(2))
            await fixture.readers.calls.has("close 1")
            await agent.ended.reaches(1)
            #expect(agent.outcome(of: id) == "success")
            #expect(
                try await client.call(
                    GetHistory.self, GetHistory.Arguments(user: "", limit: 1)
                ).entries.first?["method"] == .string("password"))
        }
    }

    @Test func `is checked only when something was entered`() async throws {
        try await withAgent { fixture, client, agent in
            async let result = client.evaluate(policy: 2)
            _ = await agent.prompt()
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, match)
            _ = try await result
            #expect(fixture.passwords.entries.entries == [])
        }
    }

    @Test func `may be wrong twice, and an empty one is none`() async throws {
        try await withAgent { fixture, client, agent in
            async let failure = ending { try await client.evaluate(policy: 2) }
            let id = await agent.prompt()
            let empty = try await agent.enter("", id)
            #expect(empty.accepted == false && empty.attemptsLeft == 3)
            for left in [UInt32(2), 1, 0] {
                let reply = try await agent.enter("wrong", id)
                #expect(reply.accepted == false && reply.attemptsLeft == left)
            }
            #expect(await failure == "AuthenticationFailed")
            await agent.ended.reaches(1)
            #expect(agent.outcome(of: id) == "AuthenticationFailed")
            // A password is none of the finger's misses.
            #expect(fixture.lockouts.writes.entries == [])
        }
    }

    @Test func `ends a lockout, and no finger does`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.lockouts.readings[.alice] = .record(.locked)
            let answer11 = try await client.can()
            #expect(answer11.code == -8)
            let answer12 = try await client.can(2)
            #expect(answer12.canEvaluate)
            async let result = client.evaluate(policy: 2, ["token": .string("t")])
            let id = await agent.prompt()
            #expect(agent.shown(id)[.finger] == .bool(false))
            #expect(agent.shown(id)[.password] == .bool(true))
            await client.next { $0 == .progress(token: "t", state: "waiting-for-password") }
            _ = try await agent.enter(FakePasswords.right, id)
            _ = try await result
            let answer13 = try await client.can()
            #expect(answer13.code == 0)
            #expect(fixture.lockouts.writes.entries == [LockoutRecord()])
            #expect(fixture.readers.calls.entries == [])
        }
    }

    @Test func `goes on where the fifth miss locks the finger`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.lockouts.readings[.alice] = .record(
                LockoutRecord(misses: 4, total: 4, locked: nil))
            async let result = client.evaluate(policy: 2, ["token": .string("t")])
            let id = await agent.prompt()
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, .missed)
            await client.next { heard in
                if case .lockout(true, 0, 0) = heard { true } else { false }
            }
            await client.next { $0 == .progress(token: "t", state: "waiting-for-password") }
            await fixture.readers.calls.has("close 1")
            let answer14 = try await agent.enter(FakePasswords.right, id)
            #expect(answer14.accepted)
            let values = try await result
            #expect(values["method"] == .string("password"))
            let answer15 = try await client.can()
            #expect(answer15.code == 0)
            #expect(client.heardLockouts.count == 2)
        }
    }

    @Test func `goes on after the last miss of the evaluation too`() async throws {
        try await withAgent { fixture, client, agent in
            async let result = client.evaluate(policy: 2)
            let id = await agent.prompt()
            for number in 1...3 {
                await fixture.readers.calls.has("scan 1", times: number)
                fixture.readers.touch(reader, .missed)
            }
            await fixture.readers.calls.has("close 1")
            await agent.shows(id, .finger, .bool(false))
            let answer16 = try await agent.enter(FakePasswords.right, id)
            #expect(answer16.accepted)
            let values = try await result
            #expect(values["method"] == .string("password"))
        }
    }

    @Test func `is untouched by whatever happens to the reader`() async throws {
        try await withAgent { fixture, client, agent in
            for (number, failure) in ReaderFailure.allCases.enumerated() {
                async let outcome = ending { try await client.evaluate(policy: 2) }
                let id = await agent.prompt(number + 1)
                await fixture.readers.calls.has("scan 1", times: number + 1)
                fixture.readers.end(reader, .failure(failure))
                // The machine sleeps, then, and nothing goes on.
                if failure == .cancelled {
                    #expect(await outcome == "SystemCancel")
                    continue
                }
                await fixture.readers.calls.has("close 1", times: number + 1)
                let answer17 = try await agent.enter(FakePasswords.right, id)
                #expect(answer17.accepted, "\(failure)")
                #expect(await outcome == nil, "\(failure)")
                // One that fails too often rests.
                if failure == .tooHot { break }
            }
        }
    }

    @Test(
        arguments: [
            (.triesUsedUp, "AuthenticationFailed"), (.accountUnavailable, "AccountUnavailable"),
            (.notSet, "PasscodeNotSet"), (.unavailable, "PasswordNotAvailable"),
        ] as [(PasswordVerdict, String)])
    func `has an ending for whatever the check comes to`(
        verdict: PasswordVerdict, name: String
    ) async throws {
        try await withAgent { fixture, client, agent in
            fixture.passwords.verdict = verdict
            fixture.prints.prints = []
            async let failure = ending { try await client.evaluate(policy: 2) }
            let id = await agent.prompt()
            let reply = try await agent.enter("x", id)
            #expect(!reply.accepted && reply.attemptsLeft == 0)
            #expect(await failure == name)
        }
    }

    @Test(arguments: [PasswordVerdict.notSet, .unavailable])
    func `that cannot be checked leaves the finger as it is`(
        verdict: PasswordVerdict
    ) async throws {
        try await withAgent { fixture, client, agent in
            fixture.passwords.verdict = verdict
            async let result = client.evaluate(policy: 2)
            let id = await agent.prompt()
            await fixture.readers.calls.has("scan 1")
            let refused = try await agent.enter("x", id)
            #expect(!refused.accepted)
            await agent.shows(id, .password, .bool(false))
            #expect(await ending { try await agent.enter("x", id) } == "NotSupported")
            fixture.readers.touch(reader, match)
            let values = try await result
            #expect(values["method"] == .string("biometrics"))
        }
    }

    @Test func `is no answer to policy 1, whatever the agent does`() async throws {
        try await withAgent { fixture, client, agent in
            async let failure = ending { try await client.evaluate() }
            let id = await agent.prompt()
            #expect(
                await ending { try await agent.enter(FakePasswords.right, id) } == "NotSupported")
            try await agent.fallBack(id)
            #expect(await failure == "UserFallback")
            #expect(fixture.passwords.entries.entries == [])
        }
    }

    @Test func `is one at a time`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.passwords.isHeld = true
            async let result = client.evaluate(policy: 2)
            let id = await agent.prompt()
            async let first = agent.enter(FakePasswords.right, id)
            await fixture.passwords.entries.reaches(1)
            #expect(await ending { try await agent.enter("x", id) } == "LimitsExceeded")
            fixture.passwords.finish()
            let reply = try await first
            #expect(reply.accepted)
            _ = try await result
            #expect(fixture.passwords.entries.entries == [FakePasswords.right])
        }
    }

    @Test func `is not checked any longer than the prompt lasts`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.passwords.isHeld = true
            for number in 1...3 {
                async let outcome = ending { try await client.evaluate(policy: 2) }
                let id = await agent.prompt(number)
                await fixture.readers.calls.has("scan 1", times: number)
                async let entered = ending { try await agent.enter("x", id) }
                await fixture.passwords.entries.reaches(number)
                switch number {
                case 1: fixture.readers.touch(reader, match)
                case 2: try await agent.cancel(id)
                default: try await client.cancel()
                }
                #expect(await outcome == [nil, "UserCancel", "AppCancel"][number - 1])
                #expect(await entered == "NoSuchPrompt")
                await fixture.passwords.ends.reaches(number)
            }
            #expect(fixture.passwords.ends.entries == [true, true, true])
        }
    }

    @Test func `can be several things, which are asked for one after the other`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.passwords.texts = [PasswordText(.information, "Guten\nTag\u{1b}[1m")]
            fixture.passwords.questions = [
                PasswordText(.question(isEchoed: true), "Code:"),
                PasswordText(.question(isEchoed: false), "PIN:"),
            ]
            async let result = client.evaluate(policy: 2)
            let id = await agent.prompt()
            let first = try await agent.enter(FakePasswords.right, id)
            #expect(!first.accepted && first.attemptsLeft == 3)
            #expect(agent.shown(id)[.information] == .string("Guten Tag\u{fffd}[1m"))
            #expect(agent.shown(id)[.question] == .string("Code:"))
            #expect(agent.shown(id)[.echo] == .bool(true))
            let second = try await agent.enter("123", id)
            #expect(!second.accepted)
            #expect(agent.shown(id)[.question] == .string("PIN:"))
            let answer18 = try await agent.enter("456", id)
            #expect(answer18.accepted)
            _ = try await result
            #expect(fixture.passwords.entries.entries == [FakePasswords.right, "123", "456"])
        }
    }

    @Test func `whose second question nobody answers is given up with the prompt`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.passwords.questions = [PasswordText(.question(isEchoed: false), "PIN:")]
            async let failure = ending { try await client.evaluate(policy: 2) }
            let id = await agent.prompt()
            _ = try await agent.enter("x", id)
            try await agent.cancel(id)
            #expect(await failure == "UserCancel")
            await fixture.passwords.ends.reaches(1)
            #expect(fixture.passwords.entries.entries == ["x", nil])
        }
    }

    @Test func `is not asked for where there is none`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.passwords.standing.isSet = false
            let answer19 = try await client.environment()
            #expect(answer19["password-set"] == .bool(false))
            let answer20 = try await client.can(2)
            #expect(answer20.code == 0)
            fixture.prints.prints = []
            fixture.prints.announceChange(of: Account.alice.name)
            await client.next { $0 == .environmentChanged }
            let answer21 = try await client.can(2)
            #expect(answer21.code == -5)
            #expect(await ending { try await client.evaluate(policy: 2) } == "PasscodeNotSet")
            #expect(agent.begun.entries == [])
        }
    }

    @Test func `that is set or taken away is told to everybody who asks`() async throws {
        try await withAgent { fixture, client, _ in
            _ = try await client.environment()
            client.forgetHeard()
            fixture.passwords.standing.isSet = false
            fixture.passwords.announceChange()
            await client.next { $0 == .environmentChanged }
            let environment = try await client.environment()
            #expect(environment["password-set"] == .bool(false))
        }
    }

    @Test func `or finger of an account that has expired counts for nothing`() async throws {
        try await withAgent { fixture, client, agent in
            async let midway = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, .missed)
            await fixture.readers.calls.has("scan 1", times: 2)
            fixture.passwords.standing.hasAccountExpired = true
            fixture.readers.touch(reader, match)
            #expect(await midway == "AccountUnavailable")
            // What does not count settles no miss either.
            #expect(fixture.lockouts.writes.entries.map(\.misses) == [1])
            for policy in [UInt32(1), 2] {
                #expect(
                    await ending { try await client.evaluate(policy: policy) }
                        == "AccountUnavailable")
                let answer22 = try await client.can(policy)
                #expect(answer22.code == -1)
            }
        }
    }

    @Test func `counts for nothing when the caller has left the machine meanwhile`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.lockouts.readings[.alice] = .record(.locked)
            async let failure = ending { try await client.evaluate(policy: 2) }
            let id = await agent.prompt()
            fixture.sessions.presence = .absent
            let answer23 = try await agent.enter(FakePasswords.right, id)
            #expect(answer23.accepted)
            #expect(await failure == "SystemCancel")
            #expect(fixture.lockouts.writes.entries == [])
        }
    }
}

extension LockoutRecord {
    fileprivate static let locked = LockoutRecord(
        misses: 5, total: 5,
        locked: Locked(at: BootTime(microseconds: 1), boot: .sample))
}
