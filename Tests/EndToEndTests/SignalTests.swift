// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Signals` {
    @Test func `come before the reply, and to nobody whom they do not concern`() async throws {
        let (service, client) = try await enrolled()
        // Listens with match rules for everything, but neither asks nor watches.
        let stranger = try await TestClient(service.bus)
        let watcher = try await TestClient(service.bus)
        _ = try await watcher.call(Watch.self, NoValues())
        let evaluation = evaluating(client, "one")
        await client.fingerIsNeeded()
        // Everything at once.
        try service.storage.send("RETRY 1")
        try service.storage.send("SCAN mine")
        _ = try await evaluation.value
        let expected: [Heard] = [
            .retry(token: "one", cause: "too-short", attemptsLeft: 3),
            .progress(token: "one", state: "finished"),
        ]
        for word in expected {
            #expect(await client.heard.contains(word), "told before the reply: \(word)")
            await watcher.next { $0 == word }
        }
        _ = try await watcher.call(Unwatch.self, NoValues())
        let before = await watcher.heard.count { $0 != .environmentChanged }
        try await touch(service.storage, by: client)
        _ = try await watcher.environment()
        #expect(await watcher.heard.count { $0 != .environmentChanged } == before)
        _ = try await stranger.environment()
        #expect(await stranger.heard.allSatisfy { $0 == .environmentChanged })
    }

    @Test(.enabled(if: OtherAccount.canBe, "needs root"))
    func `about another user do not reach a watcher`() async throws {
        let (service, client) = try await enrolled()
        let watcher = try await TestClient(service.bus)
        let alice = OtherAccount.alice.name
        try await enrol(as: "alice", on: service, by: client, user: alice)
        _ = try await watcher.call(Watch.self, NoValues())
        let evaluation = evaluating(client, options: ["user": .string(alice)])
        await client.fingerIsNeeded()
        // The finger of the one who asks is not that of the one who is asked for.
        try service.storage.send("SCAN mine")
        await client.nextRetry()
        await client.fingerIsNeeded()
        try service.storage.send("SCAN alice")
        _ = try await evaluation.value
        _ = try await watcher.environment()
        #expect(await watcher.heard.allSatisfy { $0 == .environmentChanged })
    }
}
