// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// What the service relies on of a bus, on the other one that distributions use.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled(
        if: PrivateBus.Program.broker.isUsable, "needs dbus-broker, and root for its namespace"))
struct `On dbus-broker` {
    /// The service with a finger of root's, and a client that acts for root.
    private func enrolled() async throws -> (service: TestService, client: TestClient) {
        let bus = try await PrivateBus(program: .broker)
        let service = try await TestService(.storage, bus: bus)
        let client = try await TestClient(bus)
        try await enrol("left-thumb", with: service.hand(on: .storage), by: client)
        return (service, client)
    }

    private func accept(_ service: TestService, _ client: TestClient) async throws {
        let accepted = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        try await service.hand(on: .storage).touch(number: 1)
        #expect(try await accepted.value["method"] == .string("biometrics"))
    }

    @Test func `each caller is who the kernel says`() async throws {
        let (service, client) = try await enrolled()
        #expect(try await client.can().canEvaluate)
        let other = OtherUser(1, on: service.bus)
        let answer = try await other.canEvaluate()
        #expect(answer.hasPrefix("(false, -7, "), "\(answer)")
        #expect(
            try await other.call("Management.ListFingers", "root").contains("NotAuthorized"))
        #expect(try await other.call("Management.ListFingers", "").contains("@as []"))
        try await accept(service, client)
    }

    @Test func `a caller that dies frees the reader`() async throws {
        let (service, client) = try await enrolled()
        for _ in 0..<10 {
            let mortal = try await TestClient(service.bus)
            let lost = Task { try await mortal.evaluate() }
            await mortal.fingerIsNeeded()
            let next = Task { try await client.evaluate(["token": .string("next")]) }
            await client.next { $0 == .progress(token: "next", state: "queued") }
            await mortal.close()
            _ = await lost.result
            await client.fingerIsNeeded()
            try await service.hand(on: .storage).touch(number: 1)
            #expect(try await next.value["token"] == .string("next"))
        }
        _ = try await client.call(Watch.self, NoValues())
        let busctl = try Child(
            "/usr/bin/busctl",
            [
                "--address=\(service.bus.address)", "--timeout=60", "call",
                "org.example.LocalAuth", "/org/example/LocalAuth", "org.example.LocalAuth",
                "EvaluatePolicy", "usa{sv}", "1", "dies", "0",
            ], log: service.scratch.file("busctl"))
        await client.fingerIsNeeded()
        busctl.signal(SIGKILL)
        await busctl.wait()
        try await service.storage.waitUntilClosed()
        try await accept(service, client)
    }

    @Test func `signals come before the reply, and to nobody whom they do not concern`()
        async throws
    {
        let (service, client) = try await enrolled()
        let stranger = try await TestClient(service.bus)
        let evaluation = Task { try await client.evaluate(["token": .string("one")]) }
        await client.fingerIsNeeded()
        try await service.hand(on: .storage).touch(.another, number: 1)
        await client.nextRetry()
        await client.fingerIsNeeded()
        try await service.hand(on: .storage).touch(number: 1)
        _ = try await evaluation.value
        let words: [Heard] = [
            .retry(token: "one", cause: "no-match", attemptsLeft: 2),
            .progress(token: "one", state: "finished"),
        ]
        for word in words { #expect(await client.heard.contains(word), "\(word)") }
        _ = try await stranger.environment()
        #expect(await stranger.heard.allSatisfy { $0 == .environmentChanged })
    }

    @Test func `everybody is answered when the daemon is ended`() async throws {
        let (service, client) = try await enrolled()
        let running = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        service.daemon.signal(SIGTERM)
        #expect(await error(of: running) == .systemCancel)
        #expect(await service.daemon.wait() == 0)
    }

    @Test func `the daemon ends with the bus`() async throws {
        let (service, _) = try await enrolled()
        kill(service.bus.processID, SIGKILL)
        #expect(await service.daemon.wait() == 1)
    }
}
