// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

/// `CanEvaluatePolicy` says what `EvaluatePolicy` would, in every state that the machine can be in.
@Suite(.timeLimit(.minutes(1))) struct `The question and the deed` {
    /// Asks, and tries.
    private func expect(
        _ code: Int32, _ expected: ServiceError, _ client: TestClient, isAsleep: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for policy in [UInt32(1), 2] {
            // With policy 2 a password could do; nobody is there to ask for it, or there is none.
            var wanted = (error: expected, code: code)
            if policy == 2, expected != .notInteractive {
                wanted = isAsleep ? (.notInteractive, -1004) : try await client.endingWithoutAgent()
            }
            let reply = try await client.can(policy)
            #expect(reply.code == wanted.code, sourceLocation: sourceLocation)
            #expect(!reply.canEvaluate && !reply.message.isEmpty, sourceLocation: sourceLocation)
            let failure = await error(of: evaluating(client, policy: policy))
            #expect(failure == wanted.error, sourceLocation: sourceLocation)
        }
    }

    @Test func `agree without a reader`() async throws {
        let service = try await TestService()
        let client = try await TestClient(service.bus)
        try await expect(-6, .biometryNotAvailable, client)
        #expect(service.daemon.isRunning)
    }

    @Test func `agree about readers, prints and misses`() async throws {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)
        try await expect(-7, .biometryNotEnrolled, client)
        #expect(try await client.environment()["biometry-type"] == .uint32(1))
        try await enrol(on: service, by: client)
        #expect(try await client.can().code == 0)
        try await miss(5, on: service.storage, by: client)
        try await expect(-8, .biometryLockout, client)
        try await client.resetLockout()
        #expect(try await client.can().code == 0)
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        try service.storage.send("UNPLUG")
        _ = await evaluation.result
        try await client.waitUntilCan(-13)
        try await expect(-13, .biometryDisconnected, client)
    }

    @Test func `agree about where one sits, about the lid and about sleep`() async throws {
        let scene = try await MachineScene()
        let client = scene.client
        #expect(try await client.can().code == 0)
        await scene.logind.changeLid(.bool(true))
        try await client.waitUntilCan(-6)
        try await expect(-6, .biometryNotAvailable, client)
        await scene.logind.changeLid(.bool(false))
        try await client.waitUntilCan(0)
        _ = await scene.fallAsleep()
        try await expect(-6, .biometryNotAvailable, client, isAsleep: true)
        await scene.wakeUp()
        try await client.waitUntilCan(0)
        for session in [
            FakeLogind.Session(isActive: false), FakeLogind.Session(isRemote: true),
            FakeLogind.Session(isLocked: true),
        ] {
            await scene.logind.change("c1", to: session)
            try await client.waitUntilCan(-1004)
            try await expect(-1004, .notInteractive, client)
            await scene.logind.change("c1", to: FakeLogind.Session())
            try await client.waitUntilCan(0)
        }
        try await touch(scene.reader, by: client)
    }
}
