// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Files among the prints` {
    @Test func `that are damaged or hostile are passed over and left alone`() async throws {
        let (service, _) = try await enrolled(on: .device)
        service.daemon.signal(SIGKILL)
        await service.daemon.wait()
        let folder = service.prints(on: .device)
        let good = try Data(contentsOf: URL(filePath: folder + "/7"))
        var random = SystemRandomNumberGenerator()
        let noise = Data((0..<200).map { _ in UInt8.random(in: 0...255, using: &random) })
        let files: [String: Data] = [
            "1": Data(), "2": good.prefix(3), "3": good.prefix(good.count / 2), "4": noise,
            // The name of another finger than the one inside.
            "8": good,
            // Not the name of a finger.
            "0": good, "b": good, "77": good,
            "9": Data(PrintBytes(user: "somebody-else", finger: 9).bytes),
        ]
        for (name, data) in files { try data.write(to: URL(filePath: "\(folder)/\(name)")) }
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/5", withDestinationPath: "7")
        #expect(unsafe mkfifo(folder + "/6", 0o600) == 0)
        try FileManager.default.createDirectory(
            atPath: folder + "/a", withIntermediateDirectories: false)
        let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()

        try await service.restart()
        let next = try await TestClient(service.bus)
        #expect(try await next.list() == ["right-index-finger"])
        try await touch(service.device, by: next)
        for _ in 0..<3 { _ = try await next.can() }
        // One line for each, but for the good one.
        #expect(service.logCount("inode=") == before.count - 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before)
        #expect(service.daemon.isRunning)
    }

    @Test func `of another user are not accepted`() async throws {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)
        try await enrol("right-index-finger", as: "mine", on: service, by: client)
        let bob = OtherAccount.bob.name
        guard OtherAccount.canBe else { return }
        try await enrol("left-index-finger", as: "bobs", on: service, by: client, user: bob)
        // In its own place, and copied into ours under its own name.
        #expect(try await tooManyMisses(with: "bobs", on: service, by: client))
        try await client.resetLockout()
        let files = FileManager.default
        try files.copyItem(
            atPath: service.prints(of: bob) + "/2", toPath: service.prints() + "/2")
        #expect(try await client.list() == ["right-index-finger"])
        #expect(try await tooManyMisses(with: "bobs", on: service, by: client))
        #expect(files.fileExists(atPath: service.prints() + "/2"))
        // A print whose file is gone is not accepted from the reader's memory.
        try await client.resetLockout()
        try await enrol("left-thumb", as: "thumb", on: service, by: client)
        try files.removeItem(atPath: service.prints() + "/1")
        #expect(try await tooManyMisses(with: "thumb", on: service, by: client))
        try await client.resetLockout()
        try await touch(service.storage, by: client)
    }

    private func tooManyMisses(
        with id: String, on service: TestService, by client: TestClient
    ) async throws -> Bool {
        let evaluation = evaluating(client)
        for _ in 0..<3 {
            await client.fingerIsNeeded()
            try service.storage.send("SCAN \(id)")
        }
        return await error(of: evaluation) == .authenticationFailed
    }

    @Test func `that another program changes are noticed`() async throws {
        let (service, client) = try await enrolled()
        let files = FileManager.default
        let print = service.prints() + "/7"
        #expect(try await client.can().code == 0)
        let away = service.scratch.file("away")
        try files.moveItem(atPath: print, toPath: away)
        try await client.waitUntilCan(-7)
        #expect(await error(of: evaluating(client)) == .biometryNotEnrolled)
        try files.moveItem(atPath: away, toPath: print)
        try await client.waitUntilCan(0)
        try await touch(service.storage, by: client)
    }
}
