// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A caller that dies` {
    @Test func `in the middle of a scan frees the reader and is not charged`() async throws {
        let (service, client) = try await enrolled()
        let mortal = try await TestClient(service.bus)
        let lost = evaluating(mortal)
        await mortal.fingerIsNeeded()
        await mortal.close()
        #expect(await errorName(of: lost) == .disconnected)
        try await service.storage.waitUntilClosed()
        #expect(try await client.attemptsLeft() == 5)
        try await touch(service.storage, by: client)
    }

    @Test func `by SIGKILL frees the reader too`() async throws {
        let (service, client) = try await enrolled()
        _ = try await client.call(Watch.self, NoValues())
        let line = busctl(service, "EvaluatePolicy", ["usa{sv}", "1", "dies", "0"])
        let child = try Child(
            line[0], Array(line.dropFirst()), log: service.scratch.file("busctl"))
        await client.fingerIsNeeded()
        try service.storage.send("SCAN other")
        await client.nextRetry()
        await client.fingerIsNeeded()
        child.signal(SIGKILL)
        await child.wait()
        try await service.storage.waitUntilClosed()
        // What was missed before stays charged.
        #expect(try await client.attemptsLeft() == 4)
        try await touch(service.storage, by: client)
        #expect(try await client.attemptsLeft() == 5)
    }

    @Test func `leaves the reader to the next one, fifty times`() async throws {
        let (service, client) = try await enrolled()
        for _ in 0..<50 {
            let mortal = try await TestClient(service.bus)
            let lost = evaluating(mortal)
            await mortal.fingerIsNeeded()
            let next = evaluating(client, "next")
            await client.next { $0 == .progress(token: "next", state: "queued") }
            await mortal.close()
            _ = await lost.result
            await client.fingerIsNeeded()
            try service.storage.send("SCAN mine")
            #expect(try await next.value["token"] == .string("next"))
        }
        #expect(try await client.attemptsLeft() == 5)
    }
}
