// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The line` {
    private func isQueued(_ token: String) -> @Sendable (Heard) -> Bool {
        { $0 == .progress(token: token, state: "queued") }
    }

    private func isWaiting(_ token: String) -> @Sendable (Heard) -> Bool {
        { $0 == .progress(token: token, state: "waiting-for-finger") }
    }

    @Test func `serves callers in the order in which they came`() async throws {
        let (service, first) = try await enrolled()
        let second = try await TestClient(service.bus)
        let a = evaluating(first, "a")
        await first.next(isWaiting("a"))
        let b = evaluating(second, "b")
        await second.next(isQueued("b"))
        let c = evaluating(first, "c")
        await first.next(isQueued("c"))
        try service.storage.send("SCAN mine")
        #expect(try await a.value["token"] == .string("a"))
        await second.next(isWaiting("b"))
        try service.storage.send("SCAN mine")
        #expect(try await b.value["token"] == .string("b"))
        await first.next(isWaiting("c"))
        try service.storage.send("SCAN mine")
        #expect(try await c.value["token"] == .string("c"))
        #expect(await second.heard.contains(.progress(token: "b", state: "finished")))
    }

    @Test func `keeps the order of calls that come together from somebody new`() async throws {
        let (service, _) = try await enrolled()
        for _ in 0..<20 {
            let client = try await TestClient(service.bus)
            let (first, second) = await evaluateTwice(client)
            await client.next(isWaiting("first"))
            try await client.cancel("first")
            #expect(await error(of: first) == .appCancel)
            await client.next(isWaiting("second"))
            await client.close()
            _ = await second.result
        }
    }

    /// Sends two calls one behind the other, without waiting in between.
    @BusQueue private func evaluateTwice(
        _ client: TestClient
    ) -> (Task<[String: BusValue], any Error>, Task<[String: BusValue], any Error>) {
        func begin(_ token: String) -> Task<[String: BusValue], any Error> {
            Task.immediate { @BusQueue in try await client.evaluate(["token": .string(token)]) }
        }
        return (begin("first"), begin("second"))
    }

    @Test func `holds three, and lets those go that leave it`() async throws {
        let (service, client) = try await enrolled()
        let mortal = try await TestClient(service.bus)
        let running = evaluating(client, "running")
        await client.next(isWaiting("running"))
        let cancelled = evaluating(client, "cancelled")
        await client.next(isQueued("cancelled"))
        let killed = evaluating(mortal, "killed")
        await mortal.next(isQueued("killed"))
        let waiting = evaluating(client, "waiting")
        await client.next(isQueued("waiting"))
        let name = await errorName { () throws(BusError) in try await client.evaluate() }
        #expect(name == .limitsExceeded)
        #expect(try await client.can().canEvaluate, "answers while somebody else is served")

        try await client.cancel("cancelled")
        #expect(await error(of: cancelled) == .appCancel)
        let fills = evaluating(client, "fills")
        await client.next(isQueued("fills"))
        await mortal.close()
        _ = await killed.result
        try service.storage.send("SCAN mine")
        #expect(try await running.value["method"] == .string("biometrics"))
        for (token, evaluation) in [("waiting", waiting), ("fills", fills)] {
            await client.next(isWaiting(token))
            try service.storage.send("SCAN mine")
            #expect(try await evaluation.value["token"] == .string(token))
        }
    }

    @Test func `lets five misses through, whatever is asked at once`() async throws {
        let (service, watcher) = try await enrolled()
        _ = try await watcher.call(Watch.self, NoValues())
        var clients: [TestClient] = []
        for _ in 0..<4 { clients.append(try await TestClient(service.bus)) }
        let reader = service.storage
        let finger = Task {
            while await watcher.next({
                if case .progress(_, "waiting-for-finger") = $0 { true } else { false }
            }) != nil {
                try reader.send("SCAN other")
            }
        }
        var endings: [ErrorName: Int] = [:]
        for _ in 0..<2 {
            let calls = (0..<20).map { evaluating(clients[$0 % 4], "\($0)") }
            for call in calls {
                guard let name = await errorName(of: call) else {
                    Issue.record("a miss was taken for a match")
                    continue
                }
                endings[name, default: 0] += 1
            }
        }
        let misses = await watcher.heard.count {
            if case .retry(_, "no-match", _) = $0 { true } else { false }
        }
        // Of three misses and two the last ones are not told as retries.
        #expect(misses == 3)
        #expect(endings[ServiceError.authenticationFailed.name] == 1)
        #expect(endings.values.reduce(0, +) == 40)
        let allowed: Set<ErrorName> = [
            ServiceError.authenticationFailed.name, ServiceError.biometryLockout.name,
            .limitsExceeded,
        ]
        #expect(Set(endings.keys).isSubset(of: allowed))
        let lockouts = await watcher.heardLockouts
        #expect(lockouts == [.lockout(lockedOut: true, attemptsLeft: 0, secondsLeft: 0)])
        await watcher.stopWaiting()
        _ = await finger.result
    }
}
