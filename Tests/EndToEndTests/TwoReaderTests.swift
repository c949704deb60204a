// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Two readers` {
    /// A daemon with two readers; the client has a finger on each: `stored` and `verified`.
    private func armed() async throws -> (TestService, TestClient) {
        let service = try await TestService(.storage, .device)
        let client = try await TestClient(service.bus)
        for (number, kind) in try await service.readerNumbers(client) {
            try await enrol(
                "left-thumb", as: kind == .storage ? "stored" : "verified", on: service,
                by: client, reader: service.reader(kind), number: number)
        }
        try await released(service)
        return (service, client)
    }

    @Test func `are armed at once, and a finger on either will do`() async throws {
        let (service, client) = try await armed()
        for (kind, id) in [(TestService.Reader.storage, "stored"), (.device, "verified")] {
            let evaluation = evaluating(client)
            try await service.reader(kind).sendWhenOpen("SCAN \(id)")
            #expect(try await evaluation.value["method"] == .string("biometrics"))
            try await released(service)
        }
    }

    /// Returns when both readers are closed: a touch before that would be of the last scan.
    private func released(_ service: TestService) async throws {
        try await service.storage.waitUntilClosed()
        try await service.device.waitUntilClosed()
    }

    @Test func `share one count of misses`() async throws {
        let (service, client) = try await armed()
        let mixed = evaluating(client)
        try await service.storage.sendWhenOpen("SCAN other")
        await client.nextRetry()
        #expect(try await client.attemptsLeft() == 4)
        try await service.device.sendWhenOpen("SCAN verified")
        #expect(try await mixed.value["method"] == .string("biometrics"))
        #expect(try await client.attemptsLeft() == 5)
        try await released(service)

        let failed = evaluating(client, "failed")
        for (kind, left) in [(TestService.Reader.storage, 2), (.device, 1)] {
            try await service.reader(kind).sendWhenOpen("SCAN other")
            #expect(
                await client.nextRetry()
                    == .retry(token: "failed", cause: "no-match", attemptsLeft: UInt32(left)))
        }
        try await service.storage.sendWhenOpen("SCAN other")
        #expect(await error(of: failed) == .authenticationFailed)
        try await released(service)
        let locked = evaluating(client)
        try await service.device.sendWhenOpen("SCAN other")
        await client.nextRetry()
        try await service.storage.sendWhenOpen("SCAN other")
        #expect(await error(of: locked) == .biometryLockout)
    }

    @Test func `are not both lost when one is unplugged`() async throws {
        let (service, client) = try await armed()
        let evaluation = evaluating(client)
        try await service.storage.sendWhenOpen("UNPLUG")
        await client.next { $0 == .environmentChanged }
        try await service.device.sendWhenOpen("SCAN verified")
        #expect(try await evaluation.value["method"] == .string("biometrics"))
        #expect(try await client.can().code == 0)
        try await service.device.waitUntilClosed()
        let next = evaluating(client)
        try await service.device.sendWhenOpen("SCAN verified")
        #expect(try await next.value["method"] == .string("biometrics"))
    }
}
