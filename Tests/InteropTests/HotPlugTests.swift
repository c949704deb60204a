// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// A daemon on a machine with one reader, which is not there at first.
private final class Machine {
    let service: TestService
    let client: TestClient
    let reader: PluggableReader
    private let scratch: Scratch
    /// How often the reader was plugged in.
    private(set) var count: UInt32 = 0

    init() async throws {
        scratch = try Scratch()
        reader = PluggableReader("nb1010", socket: scratch.file("plug"))
        let library = try await preloadLibrary("usb-faults", in: scratch)
        service = try await TestService(
            environment: reader.environment.merging([
                "FAULTY_TRANSFERS": scratch.file("transfers")
            ]) { $1 },
            // In front of umockdev's own library.
            wrapper: reader.wrapper + [
                "/usr/bin/env", "LD_PRELOAD=\(library):libumockdev-preload.so.0",
            ])
        client = try await TestClient(service.bus)
        _ = try await client.can()
    }

    /// Plugs the reader in; returns when everybody has been told of a new object.
    func plug() async throws {
        try reader.plug()
        count += 1
        try await waitUntil([Service.readerPath(count)])
    }

    /// Unplugs the reader while it does nothing; returns when everybody has been told.
    func unplug() async throws {
        try reader.unplug()
        try await waitUntil([])
    }

    /// Waits until these are the readers, which a change of the environment must announce.
    private func waitUntil(_ paths: [ObjectPath]) async throws {
        while try await readers != .objectPaths(paths) {
            guard await client.next({ $0 == .environmentChanged }) != nil else { return }
        }
    }

    /// Unplugs the reader in the middle of a scan; gives its answer, and when that came. A driver
    /// that does not notice is not told that its transfers are over.
    func unplugDuringScan(driverNotices: Bool = true) async throws -> (ServiceError?, Duration) {
        // Nothing comes from it, as long as no finger is laid on it.
        _ = try scratch.write("transfers", "silent")
        let evaluation = Task { [client] in try await client.evaluate() }
        await client.fingerIsNeeded()
        let start = ContinuousClock.now
        // What the kernel says of all that is under way, and then of the device.
        if driverNotices { _ = try scratch.write("transfers", "gone") }
        try reader.unplug()
        let answer = await error(of: evaluation)
        let time = ContinuousClock.now - start
        try await waitUntil([])
        if driverNotices { try speakAgain() }
        return (answer, time)
    }

    /// Has transfers go on.
    func speakAgain() throws {
        try FileManager.default.removeItem(atPath: scratch.file("transfers"))
    }

    var readers: BusValue? {
        get async throws { try await client.environment()["readers"] }
    }

    /// How many descriptors the daemon has. Answers come before a reader is closed, so it is given
    /// some time to come down to what is expected.
    func descriptors(settlingAt expected: Int? = nil) async throws -> Int {
        // Answered when the history, which is written behind the answers, is on disk.
        _ = try await client.call(GetHistory.self, GetHistory.Arguments(user: "", limit: 1))
        let process = DaemonProcess(try reader.processID())
        var count = 0
        for _ in 0..<200 {
            count = try process.lastingDescriptors()
            if expected == nil || count == expected { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        return count
    }
}

@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs umockdev with its bindings, and recordings at \(Recordings.folder)") {
        PluggableReader.isUsable
    })
struct `A reader that comes and goes` {
    @Test func `is there for all, and then it is not`() async throws {
        let machine = try await Machine()
        let client = machine.client
        #expect(try await client.can().code == -6)
        #expect(try await machine.readers == .objectPaths([]))
        #expect(try await client.environment()["biometry-type"] == .uint32(0))

        try await machine.plug()
        #expect(try await machine.readers == .objectPaths([Service.readerPath(1)]))
        #expect(try await client.environment()["biometry-type"] == .uint32(1))
        #expect(try await client.can().code == -7)
        try await client.enrol("right-index-finger")
        #expect(try await client.can().canEvaluate)
        #expect(try await client.evaluate()["method"] == .string("biometrics"))

        try await machine.unplug()
        #expect(try await client.can().code == -13)
        #expect(try await machine.readers == .objectPaths([]))
        #expect(await error(of: Task { try await client.evaluate() }) == .biometryDisconnected)

        // It is another object now, and the old prints are good for it.
        try await machine.plug()
        #expect(try await machine.readers == .objectPaths([Service.readerPath(2)]))
        #expect(try await client.can().canEvaluate)
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
    }

    @Test func `in the middle of a scan ends it within a second, and costs nothing`() async throws {
        let machine = try await Machine()
        let client = machine.client
        try await machine.plug()
        try await client.enrol("right-index-finger")
        let (answer, time) = try await machine.unplugDuringScan()
        print("recorded reader unplugged during a scan: answered after \(time)")
        #expect(answer == .biometryNotAvailable)
        #expect(time < .seconds(4))
        #expect(try await client.can().code == -13)
        #expect(try await client.environment()["attempts-left"] == .uint32(5))
        try await machine.plug()
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
        #expect(machine.service.daemon.isRunning)
    }

    @Test func `keeps nobody waiting, even if its driver never notices that it is gone`()
        async throws
    {
        let machine = try await Machine()
        let client = machine.client
        try await machine.plug()
        try await client.enrol("right-index-finger")
        let before = try await machine.descriptors()
        let (answer, time) = try await machine.unplugDuringScan(driverNotices: false)
        print("unplugged, and the driver does not notice: answered after \(time)")
        #expect(answer == .biometryNotAvailable)
        #expect(time < .seconds(4))
        // Others are answered at once.
        #expect(await error(of: Task { try await client.evaluate() }) == .biometryDisconnected)
        #expect(machine.service.log.contains("a driver does not end its work"))
        // The old scan ends after all, is nobody's, and the device is closed.
        try machine.speakAgain()
        let after = try await machine.descriptors(settlingAt: before)
        #expect(after == before)
        try await machine.plug()
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
        #expect(try await client.environment()["attempts-left"] == .uint32(5))
    }

    @Test func `leaves nothing behind, however often`() async throws {
        let machine = try await Machine()
        let client = machine.client
        try await machine.plug()
        try await client.enrol("right-index-finger")
        try await machine.unplug()
        var counts: [Int] = []
        for round in 0..<20 {
            try await machine.plug()
            #expect(try await client.evaluate()["method"] == .string("biometrics"))
            if round.isMultiple(of: 2) {
                try await machine.unplug()
            } else {
                #expect(try await machine.unplugDuringScan().0 == .biometryNotAvailable)
            }
            #expect(try await client.can().code == -13)
            counts.append(try await machine.descriptors(settlingAt: counts.first))
        }
        print("descriptors over 20 readers that came and went: \(counts)")
        #expect(Set(counts).count == 1)
    }
}
