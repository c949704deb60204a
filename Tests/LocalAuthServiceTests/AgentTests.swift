// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)
private let match = ScanVerdict.matched(StoredPrint.sample.id)

@Suite(.timeLimit(.minutes(1))) struct `A session's agent` {
    @Test func `shows a prompt once, before a reader is opened, and ends it once`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.programs.program = CallerProgram(name: "/usr/bin/safe", evidence: .unverified)
            agent.whileBeginning = { _ in #expect(fixture.readers.calls.entries == []) }
            async let result = client.evaluate(
                reason: "open\n\u{202e}the <b>safe", ["cancel-title": .string("Not now")])
            let id = await agent.prompt()
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, .missed)
            await fixture.readers.calls.has("scan 1", times: 2)
            fixture.readers.touch(reader, match)
            let values = try await result
            #expect(values["method"] == .string("biometrics"))
            await agent.ended.reaches(1)
            #expect(
                agent.heard.entries.first
                    == .begun(
                        id,
                        [
                            "purpose": .string("evaluate"), "policy": .uint32(1),
                            "reason": .string("open \u{fffd}the <b>safe"),
                            "user": .string("alice"), "caller": .string("/usr/bin/safe"),
                            "caller-evidence": .string("unverified"),
                            "fallback-title": .string(""), "cancel-title": .string("Not now"),
                            "parent-window": .string(""), "timeout": .uint32(20),
                            "reader": .string("Reader"), "scan-type": .string("press"),
                            "finger": .bool(true), "password": .bool(false),
                            "attempts-left": .uint32(3), "passwords-left": .uint32(3),
                        ]))
            #expect(
                agent.heard.entries.contains(
                    .updated(
                        id, ["retry": .string("no-match"), "attempts-left": .uint32(2)])))
            #expect(agent.begun.entries == [id])
            #expect(agent.ended.entries == [id])
            #expect(agent.heard.entries.last == .ended(id, "success"))
        }
    }

    @Test(
        arguments: [
            (1, nil, true), (1, "", false), (1, "Use PIN", true),
            (2, nil, true), (2, "", false), (2, "Use PIN", true),
        ] as [(UInt32, String?, Bool)])
    func `is told of the fallback button where there is one`(
        policy: UInt32, title: String?, hasButton: Bool
    ) async throws {
        try await withAgent { _, client, agent in
            var options: [String: BusValue] = [:]
            options["fallback-title"] = title.map { .string($0) }
            async let ending = ending { try await client.evaluate(policy: policy, options) }
            let shown = agent.shown(await agent.prompt())
            #expect(shown[.fallbackTitle] == (hasButton ? .string(title ?? "") : nil))
            #expect(shown[.password] == .bool(policy == 2 && hasButton))
            try await client.cancel()
            _ = await ending
        }
    }

    @Test func `is one: the first that came stays until it goes`() async throws {
        try await withAgent { fixture, client, agent in
            let other = TestAgent(try await fixture.connect())
            #expect(await ending { try await other.register() } == "AgentExists")
            // The same once more is nothing new.
            try await agent.register()
            try await agent.unregister()
            try await other.register()
            #expect(await ending { try await agent.register() } == "AgentExists")
            #expect(await ending { try await agent.unregister() } == "InvalidArgs")
            other.client.close()
            await fixture.gone.has(other.client.connection.uniqueName)
            try await agent.register()
        }
    }

    @Test func `is told to everybody who asks what there is`() async throws {
        try await withService { fixture, client in
            let answer1 = try await client.environment()
            #expect(answer1["agent-present"] == .bool(false))
            let agent = TestAgent(try await fixture.connect())
            try await agent.register()
            await client.next { $0 == .environmentChanged }
            let answer2 = try await client.environment()
            #expect(answer2["agent-present"] == .bool(true))
            let answer3 = try await client.environment()
            #expect(answer3["password-set"] == .bool(true))
            client.forgetHeard()
            agent.client.close()
            await client.next { $0 == .environmentChanged }
            let answer4 = try await client.environment()
            #expect(answer4["agent-present"] == .bool(false))
        }
    }

    @Test(arguments: [Presence.absent, .unknown])
    func `sits at the machine`(presence: Presence) async throws {
        try await withService { fixture, client in
            fixture.sessions.presence = presence
            let agent = TestAgent(client)
            #expect(await ending { try await agent.register() } == "NotInteractive")
            #expect(await ending { try await agent.register(.own) } == "NotInteractive")
        }
    }

    @Test func `shows no prompt of another session, and none of another user`() async throws {
        try await withAgent { fixture, client, agent in
            fixture.sessions.session = SessionID("2")
            let answer5 = try await client.can(2)
            #expect(answer5.code == 0)
            async let silent = client.evaluate()
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, match)
            _ = try await silent
            fixture.sessions.session = SessionID("1")
            fixture.accounts.everybody = .bob
            fixture.prints.prints = [StoredPrint(id: .sample(.rightIndex, of: .bob), template: [1])]
            let bob = try await fixture.connect()
            async let other = ending { try await bob.evaluate() }
            await fixture.readers.calls.has("scan 1", times: 2)
            try await bob.cancel()
            #expect(await other == "AppCancel")
            #expect(agent.begun.entries == [])
        }
    }

    @Test func `hears nobody's prompt but its own, and only as long as it lasts`() async throws {
        try await withAgent { fixture, client, agent in
            async let failure = ending { try await client.evaluate(policy: 2) }
            let id = await agent.prompt()
            let foreign = TestAgent(try await fixture.connect())
            for text in [id, "", "x", "\(id) ", String(id.dropLast())] where text != id {
                #expect(await ending { try await agent.cancel(text) } == "NoSuchPrompt")
                #expect(await ending { try await agent.fallBack(text) } == "NoSuchPrompt")
                #expect(await ending { try await agent.enter("x", text) } == "NoSuchPrompt")
            }
            #expect(await ending { try await foreign.cancel(id) } == "NoSuchPrompt")
            #expect(await ending { try await foreign.enter("x", id) } == "NoSuchPrompt")
            try await agent.cancel(id)
            #expect(await failure == "UserCancel")
            #expect(await ending { try await agent.cancel(id) } == "NoSuchPrompt")
            #expect(agent.outcome(of: id) == "UserCancel")
            #expect(fixture.passwords.entries.entries == [])
        }
    }

    @Test func `that goes ends its prompts, and the readers let go`() async throws {
        try await withAgent { fixture, client, agent in
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            agent.client.close()
            #expect(await failure == "SystemCancel")
            await fixture.readers.calls.has("close 1")
        }
    }

    @Test func `that cannot show a prompt has no reader opened behind it`() async throws {
        try await withAgent { fixture, client, agent in
            agent.refuses = true
            #expect(await ending { try await client.evaluate() } == "SystemCancel")
            await agent.ended.reaches(1)
            #expect(fixture.readers.calls.entries == [])
            #expect(agent.ended.entries == agent.begun.entries)
        }
    }

    @Test func `that is mute runs into the time limit, and no reader is opened`() async throws {
        try await withAgent { fixture, client, agent in
            agent.isMute = true
            #expect(
                await ending { try await client.evaluate(["timeout": .uint32(1)]) } == "Timeout")
            await agent.ended.reaches(1)
            #expect(fixture.readers.calls.entries == [])
        }
    }

    @Test func `may be quicker with the person's answer than with its own`() async throws {
        try await withAgent { fixture, client, agent in
            agent.isMute = true
            async let result = client.evaluate(policy: 2)
            let id = await agent.prompt()
            let answer6 = try await agent.enter(FakePasswords.right, id)
            #expect(answer6.accepted)
            let values = try await result
            #expect(values["method"] == .string("password"))
        }
    }

    @Test func `takes part where the administrator wants every finger to be seen`() async throws {
        var settings = ServiceSettings()
        settings.requiresAgent = true
        try await withService(settings: settings) { fixture, client in
            let answer7 = try await client.can()
            #expect(answer7.code == -1004)
            #expect(await ending { try await client.evaluate() } == "NotInteractive")
            // What an application shows itself, nobody else has seen.
            let own = TestAgent(client)
            try await own.register(.own)
            #expect(await ending { try await client.evaluate() } == "NotInteractive")
            let agent = TestAgent(try await fixture.connect())
            try await agent.register()
            let answer8 = try await client.can()
            #expect(answer8.canEvaluate)
            async let result = client.evaluate()
            _ = await agent.prompt()
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, match)
            _ = try await result
            #expect(own.begun.entries == [])
        }
    }

    @Test func `is spared the program that asks again whenever it is sent away`() async throws {
        var settings = ServiceSettings()
        settings.promptPatience = PromptPatience(
            firstPause: .seconds(60), longestPause: .seconds(60))
        try await withAgent(settings: settings) { fixture, client, agent in
            for number in 1...3 {
                async let failure = ending { try await client.evaluate() }
                let id = await agent.prompt(number)
                await fixture.readers.calls.has("scan 1", times: number)
                try await agent.cancel(id)
                #expect(await failure == "UserCancel")
                await fixture.readers.calls.has("close 1", times: number)
            }
            async let held = ending { try await client.evaluate(["token": .string("again")]) }
            await client.next { $0 == .progress(token: "again", state: "queued") }
            #expect(agent.begun.entries.count == 3)
            try await client.cancel()
            #expect(await held == "AppCancel")
        }
    }

    @Test func `keeps the service from leaving when it is idle`() async throws {
        try await withAgent { fixture, _, agent in
            #expect(!fixture.service.isIdle)
            #expect(fixture.service.isIdleButForWatchers)
            try await agent.unregister()
            #expect(fixture.service.isIdle)
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `An application's own agent` {
    @Test func `shows the prompts of its connection and of no other`() async throws {
        try await withService { fixture, client in
            let agent = TestAgent(client)
            try await agent.register(.own)
            #expect(
                await ending { try await TestAgent(client, at: "/b").register(.own) }
                    == "AgentExists")
            let other = try await fixture.connect()
            let answer9 = try await other.environment()
            #expect(answer9["agent-present"] == .bool(false))
            async let silent = other.evaluate()
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, match)
            _ = try await silent
            #expect(agent.begun.entries == [])
            async let result = client.evaluate(policy: 2)
            let answer10 = try await agent.enter(FakePasswords.right, await agent.prompt())
            #expect(answer10.accepted)
            let values = try await result
            #expect(values["method"] == .string("password"))
            #expect(fixture.service.isIdleButForWatchers && fixture.service.isIdle)
        }
    }

    @Test func `gives way to the session's, so that nothing is asked in silence`() async throws {
        try await withAgent { fixture, client, agent in
            let own = TestAgent(client)
            try await own.register(.own)
            async let failure = ending { try await client.evaluate() }
            try await agent.cancel(await agent.prompt())
            #expect(await failure == "UserCancel")
            #expect(own.begun.entries == [])
        }
    }

    @Test(
        arguments: [
            ["scope": .string("machine")], ["scope": .uint32(1)], ["scopes": .string("self")],
        ] as [[String: BusValue]])
    func `is not registered with options that nobody knows`(
        options: [String: BusValue]
    ) async throws {
        try await withService { _, client in
            let name = await ending {
                try await client.call(
                    RegisterAgent.self, RegisterAgent.Arguments(path: "/agent", options: options))
            }
            #expect(name == "InvalidArgs")
        }
    }
}

/// Runs a test's body with the service, a client and its session's agent, on another connection.
func withAgent(
    asksForPassword: Bool = false, settings: ServiceSettings = ServiceSettings(),
    present: [ReaderDescription] = [.sample(1)],
    _ body:
        @escaping @Sendable @BusQueue (ServiceFixture, TestClient, TestAgent) async throws -> Void
) async throws {
    try await withService(
        asksForPassword: asksForPassword, settings: settings, present: present
    ) { fixture, client in
        let agent = TestAgent(try await fixture.connect())
        try await agent.register()
        try await body(fixture, client, agent)
    }
}
