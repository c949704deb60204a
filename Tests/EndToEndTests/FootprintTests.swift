// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The daemon's footprint` {
    /// The threads that the daemon means to have, and those that libfprint's libraries bring along.
    private static let expected: Set<String> = [
        "bus", "readers", "storage", "lookup", "history", "gmain", "GUsbEventThread",
        "libusb_event",
        // GTask's own, while minutiae are looked for.
        "pool-localauthd", "pool-spawner",
    ]

    @Test func `has no thread of Swift's own pool, whatever it has done`() async throws {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)
        try await enrol("right-index-finger", as: "mine", on: service, by: client)
        let evaluation = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        try service.storage.send("SCAN mine")
        _ = try await evaluation.value
        let cancelled = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        try await client.cancel()
        #expect(await error(of: cancelled) == .appCancel)
        _ = try await client.environment()
        try await client.delete()
        #expect(try unexpected(in: service) == [])
    }

    @Test func `has none after a night, a closed lid and a look at who asks`() async throws {
        let scene = try await MachineScene()
        let evaluation = evaluating(scene.client)
        await scene.client.fingerIsNeeded()
        _ = await scene.fallAsleep()
        #expect(await error(of: evaluation) == .systemCancel)
        await scene.wakeUp()
        try await scene.client.waitUntilCan(0)
        await scene.logind.changeLid(.bool(true))
        try await scene.client.waitUntilCan(-6)
        await scene.logind.changeLid(.bool(false))
        try await scene.client.waitUntilCan(0)
        try await touch(scene.reader, by: scene.client)
        _ = try await scene.client.call(GetHistory.self, GetHistory.Arguments(user: "", limit: 1))
        #expect(try unexpected(in: scene.service) == [])
    }

    private func unexpected(in service: TestService) throws -> Set<String> {
        Set(try DaemonProcess(service.daemon.processID).threads()).subtracting(Self.expected)
    }
}
