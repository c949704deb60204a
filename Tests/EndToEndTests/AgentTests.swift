// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// The built daemon and `localauthctl agent` on a terminal: what becomes of prompts whose agent dies,
/// stops or comes back.
@Suite(.timeLimit(.minutes(1))) struct `An agent of the session` {
    private func agent(_ service: TestService, _ client: TestClient) async throws -> Pty {
        let environment = service.bus.environment
        let pty = try await BusQueue.task {
            Result { try Pty(TerminalScene.localauthctl, ["agent"], environment: environment) }
        }.value.get()
        #expect(await pty.shows("Serving the prompts of this session"))
        #expect(try await client.environment()["agent-present"] == .bool(true))
        return pty
    }

    @Test func `shows every application's prompt, and the finger ends it`() async throws {
        let (service, client) = try await enrolled()
        let agent = try await agent(service, client)
        let evaluation = evaluating(client)
        #expect(await agent.shows("\"open the safe\""))
        #expect(await agent.shows("Swipe your finger over the reader"))
        await client.fingerIsNeeded()
        try service.storage.send("SCAN mine")
        #expect(try await evaluation.value["method"] == .string("biometrics"))
        #expect(await agent.shows("Authenticated."))
        let canceled = evaluating(client)
        #expect(await agent.shows("Press Ctrl-C to cancel."))
        await agent.type("\u{3}")
        #expect(await error(of: canceled) == .userCancel)
        try await service.storage.waitUntilClosed()
        let fallback = evaluating(client, options: ["fallback-title": .string("Use a PIN")])
        #expect(await agent.shows("Use a PIN"))
        await agent.type("\n")
        #expect(await error(of: fallback) == .userFallback)
    }

    @Test func `that is killed takes its prompt along, and the reader is free`() async throws {
        let (service, client) = try await enrolled()
        let agent = try await agent(service, client)
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        await agent.signal(SIGKILL)
        #expect(await error(of: evaluation) == .systemCancel)
        try await service.storage.waitUntilClosed()
        // Without one the application shows itself what it wants.
        try await touch(service.storage, by: client)
        // And another may come.
        _ = try await self.agent(service, client)
    }

    @Test func `that is stopped has no reader opened behind it`() async throws {
        let (service, client) = try await enrolled()
        try await service.storage.waitUntilClosed()
        let agent = try await agent(service, client)
        await agent.signal(SIGSTOP)
        let evaluation = evaluating(client, options: ["timeout": .uint32(1)])
        #expect(await error(of: evaluation) == .timeout)
        #expect(!service.storage.isOpen)
        #expect(try await client.can().canEvaluate)
        await agent.signal(SIGCONT)
        #expect(await agent.shows("Nobody answered in time."))
        let next = evaluating(client)
        await client.fingerIsNeeded()
        try service.storage.send("SCAN mine")
        _ = try await next.value
    }

    @Test func `finds the service that comes after one that has crashed`() async throws {
        let (service, client) = try await enrolled(on: .device)
        let agent = try await agent(service, client)
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        service.daemon.signal(SIGKILL)
        await service.daemon.wait()
        _ = await evaluation.result
        #expect(await agent.shows("The service has gone."))
        try await service.restart()
        #expect(await agent.shows("Serving the prompts of this session"))
        let next = evaluating(client)
        #expect(await agent.shows("Swipe your finger over the reader"))
        await client.fingerIsNeeded()
        try service.device.send("SCAN mine")
        _ = try await next.value
        #expect(await agent.shows("Authenticated."))
    }

    @Test func `leaves nothing behind, prompt after prompt and agent after agent`() async throws {
        let (service, client) = try await enrolled()
        func round() async throws {
            let asking = try await TestClient(service.bus)
            let agent = await TestAgent(asking)
            try await agent.register()
            for number in 1...5 {
                let evaluation = evaluating(client)
                let id = await agent.prompt(number)
                if number % 2 == 0 {
                    try await agent.cancel(id)
                    #expect(await error(of: evaluation) == .userCancel)
                } else {
                    await client.fingerIsNeeded()
                    try service.storage.send("SCAN mine")
                    _ = try await evaluation.value
                }
            }
            await asking.close()
            while try await client.environment()["agent-present"] != .bool(false) {
                await client.next { $0 == .environmentChanged }
            }
        }
        for _ in 0..<5 { try await round() }
        let before = try await Figures(of: service, by: client)
        for _ in 0..<40 { try await round() }
        let after = try await Figures(of: service, by: client)
        print("200 prompts of 40 agents: \(before) before, \(after) after")
        after.expectNoMore(than: before)
    }
}
