// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// The desktop's own fingerprint settings and this service work on the same prints.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs fprintd at \(Fprintd.program)") {
        FileManager.default.isExecutableFile(atPath: Fprintd.program)
    })
struct `Prints are shared with fprintd` {
    // `virtual_device_storage` keeps prints in its own memory, which each process has its own of.
    static let readers: [TestService.Reader] = [.image, .device]

    @Test(arguments: readers)
    func `fprintd accepts a finger that was enrolled here`(reader: TestService.Reader) async throws
    {
        let service = try await TestService(reader)
        let client = try await TestClient(service.bus)
        try await enrol("right-index-finger", with: service.hand(on: reader), by: client)

        let fprintd = try await HandledFprintd(
            reader, on: service.bus, prints: service.printDirectory)
        #expect(try await fprintd.list() == ["right-index-finger"])
        #expect(try await fprintd.verify("right-index-finger", number: 5) == "verify-match")
        #expect(
            try await fprintd.verify("right-index-finger", touch: .another, number: 5)
                == "verify-no-match")

        try await client.delete(["right-index-finger"])
        #expect(try await fprintd.list() == [])
    }

    @Test(arguments: readers)
    func `a finger that fprintd enrols is accepted here at once, until fprintd deletes it`(
        reader: TestService.Reader
    ) async throws {
        let service = try await TestService(reader)
        let client = try await TestClient(service.bus)
        #expect(try await client.can().code == -7)
        let fprintd = try await HandledFprintd(
            reader, on: service.bus, prints: service.printDirectory)

        #expect(try await fprintd.enrol("left-thumb") == "enroll-completed")
        try await waitUntil(client) { try await client.can().canEvaluate }
        #expect(try await client.list() == ["left-thumb"])
        let hand = service.hand(on: reader)
        let accepted = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        try await hand.touch(number: 7)
        #expect(try await accepted.value["method"] == .string("biometrics"))
        let refused = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        try await hand.touch(.another, number: 7)
        await client.nextRetry()
        try await client.cancel()
        #expect(await error(of: refused) == .appCancel)

        // A second finger is noticed in a directory that was not there when the daemon started.
        #expect(
            try await fprintd.enrol("left-little-finger", touches: .another)
                == "enroll-completed")
        try await waitUntil(client) {
            try await client.list() == ["left-thumb", "left-little-finger"]
        }

        try await fprintd.delete("left-thumb")
        try await fprintd.delete("left-little-finger")
        try await waitUntil(client) { try await client.can().code == -7 }
        #expect(try await client.list() == [])
    }

    @Test func `what fprintd changes is a change for applications, also what it undoes`()
        async throws
    {
        let service = try await TestService(.device)
        let client = try await TestClient(service.bus)
        var seen: Set<BusValue> = []
        func expectAnother() async throws {
            try await waitUntil(client) {
                let state = try await client.environment()["domain-state"]
                return state.map { seen.insert($0).inserted } ?? false
            }
        }
        try await expectAnother()
        let fprintd = try await HandledFprintd(
            .device, on: service.bus, prints: service.printDirectory)
        #expect(try await fprintd.enrol("left-thumb") == "enroll-completed")
        try await waitUntil(client) { try await client.list() == ["left-thumb"] }
        try await expectAnother()
        // Added and taken away again, and nobody asked in between.
        #expect(
            try await fprintd.enrol("right-thumb", touches: .another) == "enroll-completed")
        try await fprintd.delete("right-thumb")
        try await expectAnother()
        try await fprintd.delete("left-thumb")
        try await expectAnother()
        #expect(seen.count == 4)
    }

    @Test func `fprintd wants a touch more to enrol a first finger`() async throws {
        let service = try await TestService(.image)
        let client = try await TestClient(service.bus)
        try await enrol("right-index-finger", with: service.hand(on: .image), by: client)
        #expect(await client.stages.count - 1 == 5)

        let prints = try Scratch()
        let fprintd = try await HandledFprintd(
            .image, on: service.bus, prints: prints.file("prints"))
        // It says nothing of its first look before there was a touch to look at.
        let touches = try await fprintd.touchesToEnrol("right-index-finger", patience: 1)
        #expect(touches == 6)
    }

    @Test(arguments: readers)
    func `and so is the reader, turn by turn`(reader: TestService.Reader) async throws {
        let service = try await TestService(reader)
        let client = try await TestClient(service.bus)
        let hand = service.hand(on: reader)
        try await enrol("right-index-finger", with: hand, by: client)
        let fprintd = try await HandledFprintd(
            reader, on: service.bus, prints: service.printDirectory, socket: hand.path)
        for number in 5..<10 as Range<UInt64> {
            #expect(
                try await fprintd.verify("right-index-finger", number: number) == "verify-match")
            let evaluation = Task { try await client.evaluate() }
            await client.fingerIsNeeded()
            try await hand.touch(number: number)
            #expect(try await evaluation.value["method"] == .string("biometrics"))
            // The answer comes before the reader is let go.
            if reader == .device { try await service.device.waitUntilClosed() }
        }
    }

    @Test func `a finger that fprintd enrols is known also where the kernel tells of nothing`()
        async throws
    {
        // A name space of its own has a limit of its own.
        let service = try await TestService(
            .device,
            wrapper: [
                "/usr/bin/unshare", "--user", "--map-root-user", "/bin/sh", "-c",
                #"echo 0 > /proc/sys/user/max_inotify_instances && exec "$0" "$@""#,
            ])
        let client = try await TestClient(service.bus)
        #expect(try await client.can().code == -7)
        #expect(service.log.contains("the prints cannot be watched"))
        let fprintd = try await HandledFprintd(
            .device, on: service.bus, prints: service.printDirectory)
        #expect(try await fprintd.enrol("left-thumb") == "enroll-completed")
        #expect(try await client.can().canEvaluate)
        try await fprintd.delete("left-thumb")
        #expect(try await client.can().code == -7)
    }

    /// Waits for something to become true, which a change of the environment must announce.
    private func waitUntil(
        _ client: TestClient, _ isTrue: () async throws -> Bool
    ) async throws {
        while try await !isTrue() {
            guard await client.next({ $0 == .environmentChanged }) != nil else { return }
        }
    }
}
