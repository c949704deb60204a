// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// The built daemon with a reader that matches in its own memory, which is not the daemon's alone.
@Suite(.timeLimit(.minutes(1))) struct `A reader's memory` {
    private let own = "FP1-20220101-7-12345678-\(NSUserName())"
    private let strangers = "FP1-20220101-7-12345678-somebody"

    /// Begins an enrolment, after which the reader has more in its memory.
    private func begun(
        on service: TestService, by client: TestClient, inserting prints: [String] = [],
        _ options: [String: BusValue] = [:]
    ) async throws -> Task<Void, any Error> {
        let enrolment = Task { try await client.enrol("left-thumb", options) }
        await client.nextStage()
        for print in prints { try service.storage.send("INSERT \(print)") }
        return enrolment
    }

    /// What is in the reader's memory. The reader must be open.
    private func contents(of service: TestService) throws -> Set<String> {
        Set(try service.storage.send("LIST").split(separator: "\n").map(String.init))
    }

    @Test func `that is full of one's own leftovers can be cleared of them, and of nothing else`()
        async throws
    {
        let (service, client) = try await enrolled()
        let full = try await begun(on: service, by: client, inserting: [own, strangers])
        try service.storage.send("ERROR 8")
        #expect(await error(of: full) == .leftoverPrints)
        let again = try await begun(
            on: service, by: client, ["discard-leftovers": .bool(true)])
        #expect(try contents(of: service) == ["mine", strangers])
        for number in 1...5 {
            try service.storage.send("SCAN new")
            #expect(
                await client.nextStage()
                    == .enrolled(token: "", done: UInt32(number), total: 5, cause: ""))
        }
        try await again.value
        #expect(try await client.list().count == 2)
        try await touch(service.storage, by: client)
        try await touch(service.storage, by: client, "new")
    }

    @Test func `that is full of others' prints stays as it is`() async throws {
        let (service, client) = try await enrolled()
        for (number, options) in [[:], ["discard-leftovers": BusValue.bool(true)]].enumerated() {
            let full = try await begun(
                on: service, by: client, inserting: number == 0 ? [strangers] : [], options)
            try service.storage.send("ERROR 8")
            #expect(await error(of: full) == .readerStorageFull)
        }
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        #expect(try contents(of: service) == ["mine", strangers])
        try service.storage.send("SCAN mine")
        _ = try await evaluation.value
    }

    @Test func `that knows the finger from before says so`() async throws {
        let (service, client) = try await enrolled()
        let known = try await begun(on: service, by: client, inserting: [own])
        try service.storage.send("SCAN \(own)")
        #expect(await error(of: known) == .leftoverPrints)
        let again = try await begun(on: service, by: client, ["discard-leftovers": .bool(true)])
        for _ in 0..<5 {
            try service.storage.send("SCAN \(own)")
            await client.nextStage()
        }
        try await again.value
        #expect(try await client.list().count == 2)
    }

    @Test func `is erased by an administrator, with strangers' prints and all files`() async throws
    {
        let (service, client) = try await enrolled()
        let full = try await begun(on: service, by: client, inserting: [strangers])
        try service.storage.send("ERROR 8")
        #expect(await error(of: full) == .readerStorageFull)
        let erased = Task { try await client.erase(Service.readerPath(1)) }
        // Until it hears this the reader does not begin.
        try await service.storage.sendWhenOpen("CONT ")
        try await erased.value
        #expect(try await client.list() == [])
        #expect(try await client.can().code == -7)
        let enrolment = try await begun(on: service, by: client)
        #expect(try contents(of: service) == [])
        for _ in 0..<5 {
            try service.storage.send("SCAN mine")
            await client.nextStage()
        }
        try await enrolment.value
        try await touch(service.storage, by: client)
    }

    @Test func `that was emptied is told from a finger that does not match`() async throws {
        let (service, client) = try await enrolled()
        // It forgets everything when the machine is switched off.
        try await service.crashAndRestart()
        let next = try await TestClient(service.bus)
        #expect(try await next.can().canEvaluate)
        let evaluation = evaluating(next)
        await next.fingerIsNeeded()
        try service.storage.send("SCAN other")
        guard case .failure(let failure as BusError) = await evaluation.result else {
            Issue.record("nothing can match")
            return
        }
        #expect(ServiceError(failure.name) == .biometryNotEnrolled)
        #expect(failure.message.contains("lost"))
        #expect(try await next.attemptsLeft() == 5)
        await next.next { $0 == .environmentChanged }
        // It is known from now on: the reader stays dark.
        #expect(try await next.can().code == -7)
        #expect(try await next.environment()["biometry-enrolled"] == .bool(false))
        try await service.storage.waitUntilClosed()
        #expect(await error(of: evaluating(next)) == .biometryNotEnrolled)
        #expect(try await next.list() == ["right-index-finger"])
        // Enrolled anew, it counts again, and misses are charged as ever.
        try await enrol(on: service, by: next)
        #expect(try await next.can().canEvaluate)
        try await touch(service.storage, by: next)
        try await miss(1, on: service.storage, by: next)
        #expect(try await next.attemptsLeft() == 4)
        _ = client
    }

    @Test func `that was emptied keeps nobody from deleting`() async throws {
        let (service, client) = try await enrolled()
        try await service.crashAndRestart()
        let next = try await TestClient(service.bus)
        try await next.delete(["right-index-finger"])
        #expect(try await next.list() == [])
        #expect(!FileManager.default.fileExists(atPath: service.prints() + "/7"))
        _ = client
    }

    @Test func `loses with the file what is deleted, and with the old print what is replaced`()
        async throws
    {
        let (service, client) = try await enrolled()
        try await enrol("right-index-finger", as: "newer", on: service, by: client)
        let replaced = evaluating(client)
        await client.fingerIsNeeded()
        #expect(try contents(of: service) == ["newer"])
        try service.storage.send("SCAN newer")
        _ = try await replaced.value
        try await client.delete()
        let enrolment = try await begun(on: service, by: client)
        #expect(try contents(of: service) == [])
        await client.close()
        _ = await enrolment.result
    }
}
