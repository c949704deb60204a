// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)

@Suite(.timeLimit(.minutes(1))) struct `A change of prints` {
    @Test func `takes the password each time, and no finger`() async throws {
        try await withAgent(asksForPassword: true) { fixture, client, agent in
            async let enrolled = ending { try await client.enrol("left-thumb") }
            let id = await agent.prompt()
            let shown = agent.shown(id)
            #expect(shown[.purpose] == .string("enroll"))
            #expect(shown[.policy] == .uint32(0))
            #expect(shown[.finger] == .bool(false))
            #expect(shown[.password] == .bool(true))
            #expect(fixture.readers.calls.entries == [])
            let answer24 = try await agent.enter(FakePasswords.right, id)
            #expect(answer24.accepted)
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await enrolled == nil)
            async let deleted = ending { try await client.delete(["left-thumb"]) }
            let second = await agent.prompt(2)
            #expect(agent.shown(second)[.purpose] == .string("delete"))
            try await agent.cancel(second)
            #expect(await deleted == "UserCancel")
            #expect(fixture.prints.prints.count == 2)
        }
    }

    @Test func `is not begun after wrong passwords, and that is kept`() async throws {
        try await withAgent(asksForPassword: true) { fixture, client, agent in
            async let failure = ending { try await client.delete() }
            let id = await agent.prompt()
            for _ in 1...3 { _ = try await agent.enter("wrong", id) }
            #expect(await failure == "AuthenticationFailed")
            #expect(fixture.prints.prints == [.sample])
            let entries = try await client.call(
                GetHistory.self, GetHistory.Arguments(user: "", limit: 0)
            ).entries
            #expect(entries.map { $0["kind"] } == [.string("delete")])
            #expect(entries.map { $0["outcome"] } == [.string("AuthenticationFailed")])
        }
    }

    @Test func `asks nobody for what cannot be done`() async throws {
        try await withAgent(asksForPassword: true) { fixture, client, agent in
            #expect(await ending { try await client.delete(["left-thumb"]) } == "NoSuchFinger")
            fixture.readers.change(.removed(reader))
            try await client.waitUntilCan(-13)
            #expect(
                await ending { try await client.enrol("left-thumb") } == "BiometryNotAvailable")
            #expect(agent.begun.entries == [])
        }
    }

    @Test func `ends with the caller in the middle of the prompt`() async throws {
        try await withAgent(asksForPassword: true) { fixture, _, agent in
            let client = try await fixture.connect()
            async let failure = ending { try await client.enrol("left-thumb") }
            let id = await agent.prompt()
            client.close()
            #expect(await failure == "Disconnected")
            await agent.ended.reaches(1)
            #expect(agent.outcome(of: id) == "AppCancel")
            #expect(fixture.readers.calls.entries == [])
        }
    }

    @Test func `is not possible where nobody can be asked for the password`() async throws {
        try await withService(asksForPassword: true) { fixture, client in
            #expect(await ending { try await client.enrol("left-thumb") } == "NotInteractive")
            fixture.passwords.standing.isSet = false
            #expect(await ending { try await client.delete() } == "PasscodeNotSet")
        }
    }
}
