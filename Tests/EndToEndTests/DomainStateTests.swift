// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

extension TestClient {
    fileprivate func state() async throws -> [UInt8]? {
        guard case .bytes(let state)? = try await environment()["domain-state"] else { return nil }
        return state
    }

    /// Waits for the word of a change, until the state is another one.
    fileprivate func state(after old: [UInt8]) async throws -> [UInt8]? {
        while true {
            let state = try await state()
            if state != old { return state }
            guard await next({ $0 == .environmentChanged }) != nil else { return nil }
        }
    }
}

extension TestService {
    /// Puts a file beside the print and then in its place, as fprintd does.
    fileprivate func put(_ data: Data, as name: String, in folder: String) throws {
        let temporary = folder + "/\(name).XYZ123"
        try data.write(to: URL(filePath: temporary))
        #expect(unsafe rename(temporary, folder + "/" + name) == 0)
    }

    fileprivate func restartCleanly() async throws {
        daemon.signal(SIGTERM)
        #expect(await daemon.wait() == 0)
        try await restart()
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The state of enrolment` {
    private let files = FileManager.default

    @Test func `stays when nothing changes`() async throws {
        let (service, client) = try await enrolled(on: .device)
        let folder = service.prints(on: .device)
        let own = try Data(contentsOf: URL(filePath: folder + "/7"))
        let state = try #require(try await client.state())
        #expect(state.count == 32)
        let touched = try await touch(service.device, by: client)
        #expect(touched["domain-state"] == .bytes(state))
        // Restarts, of either kind.
        try await service.restartCleanly()
        #expect(try await client.state() == state)
        try await service.crashAndRestart()
        #expect(try await client.state() == state)
        // Times, a corrupt and a foreign file beside, the same bytes once more, while it runs.
        for _ in 0..<2 {
            try files.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: folder + "/7")
        }
        try Data([1, 2, 3]).write(to: URL(filePath: folder + "/1"))
        try service.put(own, as: "2", in: folder)
        try service.put(own, as: "7", in: folder)
        if OtherAccount.canBe {
            try await enrol(
                as: "bobs", on: service, by: client, user: OtherAccount.bob.name,
                reader: service.device)
        }
        #expect(try await client.list() == ["right-index-finger"])
        #expect(try await client.state() == state)
        // Locked out.
        try await miss(5, on: service.device, by: client)
        #expect(try await client.environment()["biometry-locked-out"] == .bool(true))
        #expect(try await client.state() == state)
        // Made again in another order, and under a damaged file of somebody else's, in between.
        service.daemon.signal(SIGKILL)
        await service.daemon.wait()
        try files.removeItem(atPath: folder)
        try files.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        for name in ["9", "7"] { try service.put(own, as: name, in: folder) }
        try await service.restart()
        #expect(try await client.state() == state)
        #expect(service.logCount("state of enrolment unreadable") == 0)
    }

    @Test func `is another after each change through us`() async throws {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)
        var states: [[UInt8]] = [try #require(try await client.state())]
        func expectAnother(_ sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let state = try #require(try await client.state())
            #expect(!states.contains(state), sourceLocation: sourceLocation)
            #expect(state.count == 32)
            states.append(state)
        }
        // Asking leaves nothing behind.
        #expect(!files.fileExists(atPath: service.stateDirectory + "/generation"))
        try await enrol(on: service, by: client)
        try await expectAnother()
        try await enrol("left-thumb", as: "thumb", on: service, by: client)
        try await expectAnother()
        try await enrol("left-thumb", as: "other thumb", on: service, by: client)
        try await expectAnother()
        try await client.delete(["left-thumb"])
        try await expectAnother()
        try await client.delete()
        try await expectAnother()
        try await service.crashAndRestart()
        #expect(try await client.state() == states.last)
    }

    @Test func `is another after each change by other programs`() async throws {
        let (service, client) = try await enrolled(on: .device)
        let folder = service.prints(on: .device)
        let user = NSUserName()
        let own = try Data(contentsOf: URL(filePath: folder + "/7"))
        let other = Data(PrintBytes(user: user, finger: 7, content: .raw("'other'")).bytes)
        let thumb = Data(PrintBytes(user: user, finger: 1).bytes)
        var seen: Set<[UInt8]> = []
        var last = try #require(try await client.state())
        seen.insert(last)
        func expectAnother(_ sourceLocation: SourceLocation = #_sourceLocation) async throws {
            last = try #require(
                try await client.state(after: last), sourceLocation: sourceLocation)
            // Several notices of one change may come apart, and be more than one.
            #expect(seen.insert(last).inserted, sourceLocation: sourceLocation)
        }
        try service.put(thumb, as: "1", in: folder)
        try await expectAnother()
        try files.removeItem(atPath: folder + "/1")
        try await expectAnother()
        try service.put(other, as: "7", in: folder)
        try await expectAnother()
        try service.put(own, as: "7", in: folder)
        try await expectAnother()
        for _ in 0..<20 {
            try service.put(thumb, as: "1", in: folder)
            #expect(unsafe unlink(folder + "/1") == 0)
            try await expectAnother()
        }
        // While nobody runs to see it.
        service.daemon.signal(SIGKILL)
        await service.daemon.wait()
        try service.put(thumb, as: "1", in: folder)
        try await service.restart()
        try await expectAnother()
        // Seen, but not asked for, and undone before the next run.
        try await service.crashAndRestart()
        func waitForFingers(_ count: Int) async throws {
            while try await client.list().count != count {
                guard await client.next({ $0 == .environmentChanged }) != nil else { return }
            }
        }
        try await waitForFingers(2)
        try files.removeItem(atPath: folder + "/1")
        try await waitForFingers(1)
        try service.put(thumb, as: "1", in: folder)
        try await waitForFingers(2)
        try await service.restartCleanly()
        try await expectAnother()
    }

    @Test(arguments: ["garbage", "nothing", "another's"])
    func `is another after its record was damaged`(how: String) async throws {
        let (service, client) = try await enrolled()
        let state = try #require(try await client.state())
        service.daemon.signal(SIGKILL)
        await service.daemon.wait()
        let folder = service.stateDirectory + "/generation"
        let name = try #require(try files.contentsOfDirectory(atPath: folder).first)
        let path = "\(folder)/\(name)"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        switch how {
        case "garbage": try Data([0, 1, 2]).write(to: URL(filePath: path))
        case "nothing": try Data().write(to: URL(filePath: path))
        default:
            try text.replacingOccurrences(of: "Uid=", with: "Uid=9")
                .write(toFile: path, atomically: false, encoding: .utf8)
        }
        try await service.restart()
        let next = try #require(try await client.state())
        #expect(next != state)
        #expect(service.logCount("state of enrolment unreadable") == 1)
        try await service.crashAndRestart()
        #expect(try await client.state() == next)
    }

    @Test func `is another to every program, and to every user`() async throws {
        let (service, _) = try await enrolled()
        let busctl = busctl(service, "GetEnvironment", [])
        func state(_ line: [String], as account: OtherAccount? = nil) async throws -> Substring {
            let output = try await run(line, as: account).output
            let start = try #require(output.range(of: "\"domain-state\" ay 32 "))
            return output[start.upperBound...].split(separator: "\"", maxSplits: 1)[0]
        }
        let first = try await state(busctl)
        #expect(first.split(separator: " ").count >= 32)
        #expect(try await state(busctl) == first)
        // The same program under another path is another one.
        let copy = service.scratch.file("another-busctl")
        try files.copyItem(atPath: busctl[0], toPath: copy)
        let copied = try await state([copy] + busctl.dropFirst())
        #expect(copied != first)
        if OtherAccount.canBe {
            let alices = try await state(busctl, as: .alice)
            let bobs = try await state(busctl, as: .bob)
            #expect(Set([first, copied, alices, bobs]).count == 4)
        }
        // The secret is the machine's alone, and is told nowhere.
        let secret = service.stateDirectory + "/secret"
        let mode = try files.attributesOfItem(atPath: secret)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try Data(contentsOf: URL(filePath: secret)).count == 32)
        try await service.crashAndRestart()
        #expect(try await state(busctl) == first)
        service.daemon.signal(SIGKILL)
        await service.daemon.wait()
        try Data([1]).write(to: URL(filePath: secret))
        try await service.restart()
        #expect(try await state(busctl) != first)
        #expect(service.logCount("the machine's secret") == 1)
    }

    @Test func `that is required is looked at before the touch and after`() async throws {
        let (service, client) = try await enrolled()
        let state = try #require(try await client.state())
        let passing = evaluating(
            client, options: ["required-domain-state": .bytes(state)])
        await client.fingerIsNeeded()
        try service.storage.send("SCAN mine")
        #expect(try await passing.value["domain-state"] == .bytes(state))
        // A finger that is enrolled in the middle.
        let caught = evaluating(
            client, options: ["required-domain-state": .bytes(state)])
        await client.fingerIsNeeded()
        var thumb = PrintBytes(user: NSUserName(), finger: 1)
        thumb.driver = "virtual_device_storage"
        try service.put(Data(thumb.bytes), as: "1", in: service.prints())
        try service.storage.send("SCAN mine")
        #expect(await error(of: caught) == .domainStateChanged)
        // And from then on, without a reader being opened.
        service.daemon.signal(SIGKILL)
        await service.daemon.wait()
        service.forgetSockets()
        try await service.restart()
        let refused = evaluating(
            client, options: ["required-domain-state": .bytes(state)])
        #expect(await error(of: refused) == .domainStateChanged)
        #expect(!files.fileExists(atPath: service.scratch.file("virtual_device_storage")))
    }
}
