// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import SystemSupport
import Testing

private let reader = ReaderID(1)
private let match = ScanVerdict.matched(StoredPrint.sample.id)
private let reusing: [String: BusValue] = ["reuse-duration": .uint32(300)]
private let silently: [String: BusValue] = [
    "reuse-duration": .uint32(300), "interaction-not-allowed": .bool(true),
]

extension ServiceFixture {
    /// A whole evaluation with a touch that matches.
    @discardableResult
    fileprivate func succeed(
        _ client: TestClient, policy: UInt32 = 1, _ options: [String: BusValue] = [:]
    ) async throws -> [String: BusValue] {
        let scans = readers.calls.entries.count { $0 == "scan 1" }
        let closes = readers.calls.entries.count { $0 == "close 1" }
        let evaluation = Task { try await client.evaluate(policy: policy, options) }
        await readers.calls.has("scan 1", times: scans + 1)
        readers.touch(reader, match)
        let result = try await evaluation.value
        await readers.calls.has("close 1", times: closes + 1)
        return result
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A success that is used again` {
    @Test(arguments: [UInt32(1), 2]) func `asks for nothing`(policy: UInt32) async throws {
        try await withService { fixture, client in
            let first = try await fixture.succeed(client)
            #expect(first["method"] == .string("biometrics"))
            let calls = fixture.readers.calls.entries
            for _ in 0..<3 {
                var options = silently
                options["token"] = .string("again")
                let result = try await client.evaluate(policy: policy, options)
                #expect(result["method"] == .string("reused"))
                #expect(result["policy"] == .uint32(policy))
                #expect(result["token"] == .string("again"))
                #expect(result["authenticated-at"] == first["authenticated-at"])
                #expect(result["domain-state"] == first["domain-state"])
            }
            #expect(fixture.readers.calls.entries == calls)
            await fixture.histories.writes.reaches(2)
            let methods = fixture.histories.trails[.alice]?.map(\.method) ?? []
            #expect(methods.contains("reused") && methods.last == "biometrics")
        }
    }

    @Test func `is not, unless that is wanted`() async throws {
        try await withService { fixture, client in
            try await fixture.succeed(client)
            for options in [[:], ["reuse-duration": BusValue.uint32(0)]] {
                let result = try await fixture.succeed(client, options)
                #expect(result["method"] == .string("biometrics"))
            }
        }
    }

    @Test func `by the password counts under policy 2 only`() async throws {
        try await withAgent { fixture, client, agent in
            async let first = client.evaluate(policy: 2)
            let id = await agent.prompt()
            let reply = try await agent.enter(FakePasswords.right, id)
            #expect(reply.accepted)
            _ = try await first
            await fixture.readers.calls.has("close 1")
            #expect(await ending { try await client.evaluate(silently) } == "NotInteractive")
            let again = try await client.evaluate(policy: 2, silently)
            #expect(again["method"] == .string("reused"))
            #expect(agent.begun.entries.count == 1)
        }
    }

    @Test func `is not the password that a change of prints has taken`() async throws {
        try await withAgent(asksForPassword: true) { fixture, client, agent in
            async let deleted = ending { try await client.delete(["right-index-finger"]) }
            let reply = try await agent.enter(FakePasswords.right, await agent.prompt())
            #expect(reply.accepted)
            #expect(await deleted == nil)
            #expect(
                await ending { try await client.evaluate(policy: 2, silently) }
                    == "NotInteractive")
        }
    }

    @Test func `keeps the service from leaving as long as it may be wanted`() async throws {
        try await withService { fixture, client in
            try await fixture.succeed(client)
            await fixture.histories.writes.reaches(1)
            _ = try await client.call(GetHistory.self, GetHistory.Arguments(user: "", limit: 1))
            #expect(fixture.service.isIdle)
            let other = try await fixture.connect()
            try await fixture.succeed(other, reusing)
            _ = try await client.call(GetHistory.self, GetHistory.Arguments(user: "", limit: 1))
            #expect(!fixture.service.isIdle)
            other.close()
            await fixture.gone.has(other.connection.uniqueName)
            #expect(fixture.service.isIdle)
        }
    }

    @Test func `is of the same connection only`() async throws {
        try await withService { fixture, client in
            try await fixture.succeed(client)
            let other = try await fixture.connect()
            #expect(await ending { try await other.evaluate(silently) } == "NotInteractive")
            #expect(try await client.evaluate(silently)["method"] == .string("reused"))
        }
    }

    @Test func `is of the same user only`() async throws {
        try await withService(as: .root) { fixture, client in
            let alices = reusing.merging(["user": .string("alice")]) { $1 }
            try await fixture.succeed(client, alices)
            #expect(try await client.evaluate(alices)["method"] == .string("reused"))
            #expect(await ending { try await client.evaluate(silently) } == "NotInteractive")
            let bobs = silently.merging(["user": .string("bob")]) { $1 }
            #expect(await ending { try await client.evaluate(bobs) } == "NotInteractive")
        }
    }

    @Test func `outlives failures, a lockout and the loss of the reader`() async throws {
        try await withService { fixture, client in
            try await fixture.succeed(client)
            fixture.lockouts.readings[.alice] = .unreadable
            fixture.readers.change(.removed(reader))
            #expect(try await client.evaluate(reusing)["method"] == .string("reused"))
        }
    }

    @Test(arguments: [Decision.denied, .unanswered])
    func `is nothing for whom the authority does not let`(decision: Decision) async throws {
        try await withService { fixture, client in
            try await fixture.succeed(client)
            fixture.authority.decision = decision
            #expect(await ending { try await client.evaluate(silently) } == "NotAuthorized")
        }
    }

    @Test func `is forgotten when the caller loses its place, though it gets it back`() async throws
    {
        try await withService { fixture, client in
            try await fixture.succeed(client)
            fixture.sessions.presence = .absent
            fixture.sessions.announceChange()
            #expect(await ending { try await client.evaluate(silently) } == "NotInteractive")
            fixture.sessions.presence = .present
            fixture.sessions.announceChange()
            #expect(await ending { try await client.evaluate(silently) } == "NotInteractive")
        }
    }

    @Test func `is not forgotten when somebody else does`() async throws {
        try await withService { fixture, client in
            try await fixture.succeed(client)
            fixture.sessions.announceChange()
            // Until it has been looked at again, it is not accepted; then it is.
            while await ending({ try await client.evaluate(silently) }) == "NotInteractive" {}
            #expect(try await client.evaluate(silently)["method"] == .string("reused"))
        }
    }

    @Test func `is forgotten in the machine's sleep`() async throws {
        try await withService { fixture, client in
            try await fixture.succeed(client)
            await fixture.machine.fallAsleep()
            await fixture.machine.wakeUp()
            #expect(await ending { try await client.evaluate(silently) } == "NotInteractive")
        }
    }

    @Test func `is forgotten when the prints change, though that is undone`() async throws {
        try await withService { fixture, client in
            try await fixture.succeed(client)
            client.forgetHeard()
            fixture.prints.unseen += 1
            fixture.prints.announceChange(of: Account.alice.name)
            await client.next { $0 == .environmentChanged }
            #expect(await ending { try await client.evaluate(silently) } == "NotInteractive")
        }
    }

    @Test func `must have the state that is required`() async throws {
        try await withService { fixture, client in
            let first = try await fixture.succeed(client)
            var options = silently
            options["required-domain-state"] = first["domain-state"]
            #expect(try await client.evaluate(options)["method"] == .string("reused"))
            options["required-domain-state"] = .bytes([1])
            #expect(await ending { try await client.evaluate(options) } == "DomainStateChanged")
        }
    }

    @Test func `does not begin anew`() async throws {
        try await withService { fixture, client in
            let first = try await fixture.succeed(client)
            _ = try await client.evaluate(silently)
            // Only the touch counts, so a second after it nothing does that is asked to be newer.
            guard case .uint64(let touched)? = first["authenticated-at"] else {
                Issue.record("no time")
                return
            }
            var options = silently
            options["reuse-duration"] = .uint32(1)
            while await ending({ try await client.evaluate(options) }) == nil {}
            let now = BootClock.microseconds()
            #expect(now - touched >= 1_000_000)
        }
    }
}

extension TestClient {
    fileprivate func redeem(
        _ ticket: BusValue?, _ challenge: [UInt8]
    ) async throws -> [String: BusValue] {
        guard case .bytes(let ticket)? = ticket else { return [:] }
        return try await call(
            RedeemTicket.self, RedeemTicket.Arguments(ticket: ticket, challenge: challenge)
        ).claims
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A ticket` {
    private static let challenge = [UInt8](1...16)
    private static let wanted: [String: BusValue] = ["challenge": .bytes(challenge)]

    @Test func `tells another process what happened, once`() async throws {
        try await withService { fixture, client in
            fixture.programs.program = CallerProgram(name: "/usr/bin/app", evidence: .unverified)
            let result = try await fixture.succeed(client, policy: 2, Self.wanted)
            let other = try await fixture.connect()
            // Whoever redeems it need not sit anywhere, or be allowed anything.
            fixture.sessions.presence = .absent
            fixture.authority.decision = .denied
            let claims = try await other.redeem(result["ticket"], Self.challenge)
            #expect(
                claims == [
                    "uid": .uint32(1_000), "user": .string("alice"), "policy": .uint32(2),
                    "method": .string("biometrics"),
                    "authenticated-at": try #require(result["authenticated-at"]),
                    "caller": .string(client.connection.uniqueName.rawValue),
                    "caller-program": .string("/usr/bin/app"),
                    "caller-evidence": .string("unverified"),
                ])
            let again = await ending { try await other.redeem(result["ticket"], Self.challenge) }
            #expect(again == "TicketInvalid")
        }
    }

    @Test func `is refused in the same words whatever is wrong`() async throws {
        try await withService { fixture, client in
            let ticket = try await fixture.succeed(client, Self.wanted)["ticket"]
            guard case .bytes(let bytes)? = ticket else {
                Issue.record("no ticket")
                return
            }
            #expect(bytes.count == 32)
            var errors: Set<BusError> = []
            let other = [UInt8](repeating: 9, count: 16)
            let tries: [([UInt8], [UInt8])] = [
                ([], []), (Array(bytes.dropLast()), Self.challenge), (other, Self.challenge),
                (bytes + [0], Self.challenge), (bytes, other), (bytes, Self.challenge),
            ]
            for (ticket, challenge) in tries {
                do throws(BusError) {
                    _ = try await client.call(
                        RedeemTicket.self,
                        RedeemTicket.Arguments(ticket: ticket, challenge: challenge))
                    Issue.record("accepted")
                } catch {
                    errors.insert(error)
                }
            }
            #expect(errors.count == 1)
            #expect(errors.first?.name == ServiceError.ticketInvalid.name)
        }
    }

    @Test func `is of the user who was authenticated`() async throws {
        try await withService(as: .root) { fixture, client in
            let options = Self.wanted.merging(["user": .string("alice")]) { $1 }
            let result = try await fixture.succeed(client, options)
            let claims = try await client.redeem(result["ticket"], Self.challenge)
            #expect(claims["uid"] == .uint32(1_000) && claims["user"] == .string("alice"))
        }
    }

    @Test func `is given for a reused success too, and says so`() async throws {
        try await withService { fixture, client in
            let first = try await fixture.succeed(client)
            #expect(first["ticket"] == nil)
            let result = try await client.evaluate(silently.merging(Self.wanted) { $1 })
            let claims = try await client.redeem(result["ticket"], Self.challenge)
            #expect(claims["method"] == .string("reused"))
            #expect(claims["authenticated-at"] == first["authenticated-at"])
        }
    }

    @Test func `is given for no failure, and keeps the service until it is redeemed`() async throws
    {
        try await withService { fixture, client in
            let idle = fixture.service.isIdle
            #expect(idle)
            #expect(
                await ending {
                    try await client.evaluate(
                        silently.merging(Self.wanted) { $1 })
                } == "NotInteractive")
            await fixture.histories.writes.reaches(0)
            let stillIdle = fixture.service.isIdle
            #expect(stillIdle)
            let result = try await fixture.succeed(client, Self.wanted)
            _ = try await client.redeem(result["ticket"], Self.challenge)
            let second = try await fixture.succeed(client, Self.wanted)
            await fixture.histories.writes.reaches(2)
            _ = try await client.environment()
            let isHeld = !fixture.service.isIdle
            #expect(isHeld)
            _ = try await client.redeem(second["ticket"], Self.challenge)
            while !fixture.service.isIdle { _ = try await client.environment() }
        }
    }
}
