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
        _ code: Int32, _ expected: ServiceError, _ client: TestClient,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for policy in [UInt32(1), 2] {
            // With policy 2 a password could do, and nobody is there to ask for it.
            let isFingers = policy == 1 || expected == .notInteractive
            let reply = try await client.can(policy)
            #expect(reply.code == (isFingers ? code : -1004), sourceLocation: sourceLocation)
            #expect(!reply.canEvaluate && !reply.message.isEmpty, sourceLocation: sourceLocation)
            let failure = await error(of: evaluating(client, policy: policy))
            #expect(
                failure == (isFingers ? expected : .notInteractive), sourceLocation: sourceLocation)
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
        try await expect(-6, .biometryNotAvailable, client)
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
