// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct `The main job` {
    @Test func `a finger is enrolled, accepted, refused, retried, locked out and deleted`()
        async throws
    {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)

        #expect(try await client.can().code == -7)
        try await enrol("right-index-finger", as: "mine", on: service, by: client)
        #expect(try await client.list() == ["right-index-finger"])
        #expect(try await client.can() == .init(canEvaluate: true, code: 0, message: ""))

        // Accepted
        async let accepted = client.evaluate(["token": .string("one")])
        await client.fingerIsNeeded()
        try service.storage.send("SCAN mine")
        let result = try await accepted
        #expect(result["method"] == .string("biometrics"))
        #expect(result["policy"] == .uint32(1))
        #expect(result["token"] == .string("one"))

        // Refused after three misses, with a word after each of the first two
        let refused = Task { try await client.evaluate(["token": .string("two")]) }
        for left in [2, 1] as [UInt32] {
            await client.fingerIsNeeded()
            try service.storage.send("SCAN other")
            #expect(
                await client.nextRetry()
                    == .retry(
                        token: "two", cause: "no-match", attemptsLeft: left))
        }
        await client.fingerIsNeeded()
        try service.storage.send("SCAN other")
        #expect(await error(of: refused) == .authenticationFailed)

        // Locked out with the fifth miss, before anything is told, and after a crash
        let locked = Task { try await client.evaluate(["token": .string("three")]) }
        await client.fingerIsNeeded()
        try service.storage.send("SCAN other")
        #expect(
            await client.nextRetry() == .retry(token: "three", cause: "no-match", attemptsLeft: 1))
        await client.fingerIsNeeded()
        try service.storage.send("SCAN other")
        #expect(await error(of: locked) == .biometryLockout)
        #expect(
            await client.heardLockouts == [
                .lockout(lockedOut: true, attemptsLeft: 0, secondsLeft: 0)
            ])
        #expect(try await client.can().code == -8)
        try await service.crashAndRestart()
        #expect(try await client.can().code == -8)
        let refusedAtOnce = Task { try await client.evaluate() }
        #expect(await error(of: refusedAtOnce) == .biometryLockout)

        // Until an administrator ends it
        try await client.resetLockout()
        #expect(try await client.can().code == 0)
        try await client.delete()
        #expect(try await client.list() == [])
        #expect(try await client.can().code == -7)
    }
}
