// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Enrolment` {
    private static let isRoot = OtherAccount.canBe

    /// An enrolment that has got as far as `stages` touches.
    private func begun(
        _ stages: Int, as id: String = "new", on service: TestService, by client: TestClient
    ) async throws -> Task<Void, any Error> {
        let enrolment = Task { try await client.enrol("left-thumb") }
        await client.nextStage()
        for _ in 0..<stages {
            try service.storage.send("SCAN \(id)")
            await client.nextStage()
        }
        return enrolment
    }

    @Test func `of a finger that the reader knows already is refused`() async throws {
        let (service, client) = try await enrolled()
        let enrolment = try await begun(0, on: service, by: client)
        try service.storage.send("SCAN mine")
        #expect(await error(of: enrolment) == .fingerAlreadyEnrolled)
        #expect(try await client.list() == ["right-index-finger"])
        try await touch(service.storage, by: client)
    }

    @Test func `names bad touches, and says when the reader is full`() async throws {
        let (service, client) = try await enrolled()
        let enrolment = try await begun(1, on: service, by: client)
        try service.storage.send("RETRY 1")
        #expect(
            await client.nextStage() == .enrolled(token: "", done: 1, total: 5, cause: "too-short"))
        try service.storage.send("ERROR 8")
        #expect(await error(of: enrolment) == .readerStorageFull)
        let another = try await begun(2, on: service, by: client)
        try service.storage.send("ERROR 0")
        #expect(await error(of: another) == .enrollmentFailed)
        #expect(try await client.list() == ["right-index-finger"])
        try await touch(service.storage, by: client)
    }

    @Test func `that cannot be saved leaves nothing in the reader`() async throws {
        let (service, client) = try await enrolled()
        let target = service.prints() + "/1"
        try FileManager.default.createDirectory(
            atPath: target + "/full", withIntermediateDirectories: true)
        let enrolment = try await begun(4, on: service, by: client)
        try service.storage.send("SCAN new")
        #expect(await error(of: enrolment) == .storageFailed)
        #expect(try await client.list() == ["right-index-finger"])
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        let stored = try service.storage.send("LIST")
        #expect(stored.split(separator: "\n").count == 1)
        try service.storage.send("SCAN mine")
        _ = try await evaluation.value
        // Once there is room, the same finger can be enrolled.
        try FileManager.default.removeItem(atPath: target)
        try await enrol("left-thumb", as: "new", on: service, by: client)
        #expect(try await client.list().count == 2)
    }

    @Test func `ends with its caller, and leaves no print`() async throws {
        let (service, client) = try await enrolled()
        let mortal = try await TestClient(service.bus)
        let lost = try await begun(3, on: service, by: mortal)
        await mortal.close()
        _ = await lost.result
        try await service.storage.waitUntilClosed()
        #expect(try await client.list() == ["right-index-finger"])
        try await touch(service.storage, by: client)
        try await enrol("left-thumb", as: "new", on: service, by: client)
    }

    @Test func `ends with the reader, and with the service`() async throws {
        let (service, client) = try await enrolled()
        let stopped = try await begun(2, on: service, by: client)
        service.daemon.signal(SIGTERM)
        #expect(await error(of: stopped) == .systemCancel)
        #expect(await service.daemon.wait() == 0)
        try await service.restart()
        let next = try await TestClient(service.bus)
        let unplugged = try await begun(3, on: service, by: next)
        try service.storage.send("UNPLUG")
        #expect(await error(of: unplugged) == .biometryNotAvailable)
        #expect(try await next.list() == ["right-index-finger"])
        #expect(
            await error(of: Task { try await next.enrol("left-thumb") }) == .biometryNotAvailable)
    }

    @Test func `of the same finger replaces the older print`() async throws {
        let (service, client) = try await enrolled(on: .device)
        try await enrol(as: "newer", on: service, by: client, reader: service.device)
        #expect(try await client.list() == ["right-index-finger"])
        try await touch(service.device, by: client, "newer")
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        try service.device.send("SCAN mine")
        #expect(
            await client.nextRetry() == .retry(token: "", cause: "no-match", attemptsLeft: 2))
        try await client.cancel()
        _ = await evaluation.result
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `is one's own affair and nobody else's`() async throws {
        let service = try await TestService(.storage)
        let alice = OtherAccount.alice
        let management = "org.example.LocalAuth.Management"
        let own = busctl(
            service, "EnrollFinger", ["ssa{sv}", "", "left-thumb", "0"], interface: management)
        let enrolled = running(own, as: alice)
        for _ in 0..<5 { try await service.storage.sendWhenOpen("SCAN alice") }
        let result = try await enrolled.value
        #expect(result.status == 0, "\(result.errors)")
        for (member, arguments) in [
            ("EnrollFinger", ["ssa{sv}", "root", "left-thumb", "0"]),
            ("EnrollFinger", ["ssa{sv}", OtherAccount.bob.name, "left-thumb", "0"]),
            ("DeleteFingers", ["sas", "root", "0"]), ("ListFingers", ["s", "root"]),
        ] {
            let line = busctl(service, member, arguments, interface: management)
            let result = try await run(line, as: alice)
            #expect(result.status != 0, "\(member)")
            #expect(result.errors.contains("policy does not allow"), "\(result.errors)")
        }
        let list = busctl(service, "ListFingers", ["s", ""], interface: management)
        #expect(try await run(list, as: alice).output == "as 1 \"left-thumb\"\n")
        let delete = busctl(service, "DeleteFingers", ["sas", "", "0"], interface: management)
        #expect(try await run(delete, as: alice).status == 0)
    }
}
