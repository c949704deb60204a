// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A success that others check or use again` {
    private static let silently: [String: BusValue] = [
        "reuse-duration": .uint32(60), "interaction-not-allowed": .bool(true),
    ]

    /// What a call of busctl's says of bytes.
    private func words(_ bytes: [UInt8]) -> [String] {
        ["\(bytes.count)"] + bytes.map { "\($0)" }
    }

    @Test func `is told to a second process once`() async throws {
        let (service, client) = try await enrolled()
        let challenge = [UInt8](100..<132)
        let evaluation = evaluating(client, options: ["challenge": .bytes(challenge)])
        await client.fingerIsNeeded()
        try service.storage.send("SCAN mine")
        let result = try await evaluation.value
        guard case .bytes(let ticket)? = result["ticket"],
            case .uint64(let time)? = result["authenticated-at"]
        else {
            Issue.record("no ticket")
            return
        }
        let redeem = busctl(
            service, "RedeemTicket", ["ayay"] + words(ticket) + words(challenge))
        let account = OtherAccount.canBe ? OtherAccount.bob : nil
        let name = await client.connection.uniqueName
        let redeemed = try await run(redeem, as: account)
        #expect(redeemed.status == 0)
        for claim in [
            "\"uid\" u \(getuid())", "\"user\" s \"\(NSUserName())\"", "\"policy\" u 1",
            "\"method\" s \"biometrics\"", "\"authenticated-at\" t \(time)",
            "\"caller\" s \"\(name.rawValue)\"",
            "\"caller-evidence\" s \"unverified\"", "\"caller-program\" s \"",
        ] { #expect(redeemed.output.contains(claim), "\(claim) in \(redeemed.output)") }
        let again = try await run(redeem, as: account)
        #expect(again.status != 0)
        #expect(again.errors.contains("There is no such ticket."))
    }

    @Test func `is used again without a reader`() async throws {
        let (service, client) = try await enrolled()
        let first = try await touch(service.storage, by: client)
        try await service.storage.waitUntilClosed()
        // The reader makes its socket anew when it is opened.
        service.forgetSockets()
        for policy in [UInt32(1), 2] {
            let again = try await client.evaluate(policy: policy, Self.silently)
            #expect(again["method"] == .string("reused"))
            #expect(again["authenticated-at"] == first["authenticated-at"])
        }
        #expect(
            !FileManager.default.fileExists(atPath: service.scratch.file("virtual_device_storage")))
        let other = try await TestClient(service.bus)
        #expect(await error(of: evaluating(other, options: Self.silently)) == .notInteractive)
        try await client.delete()
        #expect(await error(of: evaluating(client, options: Self.silently)) == .notInteractive)
    }

    @Test func `does not outlive a locked screen or a night`() async throws {
        let scene = try await MachineScene()
        let client = scene.client
        try await touch(scene.reader, by: client)
        #expect(try await client.evaluate(Self.silently)["method"] == .string("reused"))
        await scene.logind.change("c1", to: FakeLogind.Session(isLocked: true))
        try await client.waitUntilCan(-1004)
        await scene.logind.change("c1", to: FakeLogind.Session())
        try await client.waitUntilCan(0)
        #expect(await error(of: evaluating(client, options: Self.silently)) == .notInteractive)
        try await touch(scene.reader, by: client)
        #expect(try await client.evaluate(Self.silently)["method"] == .string("reused"))
        _ = await scene.fallAsleep()
        await scene.wakeUp()
        try await client.waitUntilCan(0)
        #expect(await error(of: evaluating(client, options: Self.silently)) == .notInteractive)
    }
}
