// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A lockout` {
    private static let damages = ["garbled", "empty", "folder"]
    private static let isRoot = OtherAccount.canBe

    @Test func `comes with the fifth miss, whatever crashes in between`() async throws {
        let (service, client) = try await enrolled(on: .device)
        try await miss(4, on: service.device, by: client)
        #expect(try await client.attemptsLeft() == 1)
        try await service.crashAndRestart()
        let next = try await TestClient(service.bus)
        #expect(try await next.attemptsLeft() == 1)
        let last = evaluating(next)
        await next.fingerIsNeeded()
        try service.device.send("SCAN other")
        #expect(await error(of: last) == .biometryLockout)
        try await service.crashAndRestart()
        let later = try await TestClient(service.bus)
        #expect(try await later.can().code == -8)
        #expect(await error(of: evaluating(later)) == .biometryLockout)
        let policy2 = try await later.endingWithoutAgent().error
        #expect(await error(of: evaluating(later, policy: 2)) == policy2)
        #expect(try await later.environment()["lockout-seconds-left"] == .uint32(0))
    }

    @Test func `is undone by a match before it, and by nothing else`() async throws {
        let (service, client) = try await enrolled(on: .device)
        try await miss(4, on: service.device, by: client)
        try await touch(service.device, by: client)
        #expect(try await client.attemptsLeft() == 5)
        try await miss(2, on: service.device, by: client)
        try await service.crashAndRestart()
        let next = try await TestClient(service.bus)
        #expect(try await next.attemptsLeft() == 3)
    }

    @Test(arguments: damages)
    func `holds while the record cannot be read`(damage: String) async throws {
        let (service, client) = try await enrolled(on: .device)
        try await miss(1, on: service.device, by: client)
        service.daemon.signal(SIGKILL)
        await service.daemon.wait()
        let folder = service.stateDirectory + "/lockout"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let record = folder + "/" + (try #require(names.first))
        try FileManager.default.removeItem(atPath: record)
        switch damage {
        case "garbled": try Data("[Lockout\nMisses=-1".utf8).write(to: URL(filePath: record))
        case "empty": try Data().write(to: URL(filePath: record))
        default:
            try FileManager.default.createDirectory(
                atPath: record, withIntermediateDirectories: false)
        }
        try await service.restart()
        let next = try await TestClient(service.bus)
        for _ in 0..<3 { #expect(try await next.can().code == -8) }
        #expect(await error(of: evaluating(next)) == .biometryLockout)
        #expect(service.logCount("lockout record unreadable") == 1)
        guard Self.isRoot, damage != "folder" else { return }
        try await next.resetLockout()
        #expect(try await next.can().code == 0)
        try await touch(service.device, by: next)
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `is each user's own, and only an administrator ends it`() async throws {
        let (service, client) = try await enrolled()
        let alice = OtherAccount.alice
        try await enrol(as: "alice", on: service, by: client, user: alice.name)
        _ = try await client.call(Watch.self, NoValues())
        let line = busctl(service, "EvaluatePolicy", ["usa{sv}", "1", "alice asks", "0"])
        for misses in [3, 2] {
            let ended = running(line, as: alice)
            for _ in 0..<misses {
                try await service.storage.sendWhenOpen("SCAN other")
            }
            #expect(try await ended.value.status != 0)
            // A touch before that would be of the scan that has ended.
            try await service.storage.waitUntilClosed()
        }
        let can = busctl(service, "CanEvaluatePolicy", ["u", "1"])
        #expect(try await run(can, as: alice).output.hasPrefix("bis false -8"))
        #expect(try await client.can().code == 0)
        // Nothing of it was told to another user's watcher.
        #expect(await client.heardLockouts == [])
        #expect(await client.heard.allSatisfy { if case .retry = $0 { false } else { true } })

        for user in ["", alice.name, "root"] {
            let reset = busctl(
                service, "ResetLockout", ["s", user],
                interface: "org.example.LocalAuth.Management")
            let result = try await run(reset, as: alice)
            #expect(result.status != 0)
            #expect(result.errors.contains("policy does not allow"))
        }
        #expect(try await run(can, as: alice).output.hasPrefix("bis false -8"))
        try await client.resetLockout(user: alice.name)
        #expect(try await run(can, as: alice).output.hasPrefix("bis true 0"))
    }

    @Test func `that is timed counts down, ends, and says so once`() async throws {
        let configuration = TestService.localConfiguration + "\n[Lockout]\nRecovery=timed\n"
        let (service, client) = try await enrolled(on: .device, configuration: configuration)
        _ = try await client.call(Watch.self, NoValues())
        try await miss(5, on: service.device, by: client)
        guard
            case .lockout(true, 0, let seconds)? = await client.next({
                if case .lockout = $0 { true } else { false }
            })
        else {
            Issue.record("no lockout was told")
            return
        }
        #expect((1...30).contains(seconds))
        guard case .uint32(let left)? = try await client.environment()["lockout-seconds-left"]
        else {
            Issue.record("no time is told")
            return
        }
        #expect((1...30).contains(left))

        // The lockout of a daemon that has crashed ends in the next one, after the same time.
        try await service.crashAndRestart()
        #expect(try await client.can().code == -8)
        _ = try await client.call(Watch.self, NoValues())
        let end = await client.next { if case .lockout = $0 { true } else { false } }
        #expect(end == .lockout(lockedOut: false, attemptsLeft: 5, secondsLeft: 0))
        #expect(try await client.can().code == 0)
        try await touch(service.device, by: client)
        #expect(await client.heardLockouts.count == 2)
    }
}
