// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthModel
import PrintStorage
import SystemSupport
import TestKit
import Testing

private func account(_ id: UInt32, _ name: String) -> Account {
    guard let id = UserID(id) else { preconditionFailure("not an id: \(id)") }
    return Account(id: id, name: StoreFixture.user(name))
}

private func locked(_ misses: UInt32, at time: UInt64 = 123_456_789) -> LockoutRecord {
    LockoutRecord(
        misses: misses, total: misses,
        locked: BootID("0f0e-12").map { .init(at: BootTime(microseconds: time), boot: $0) })
}

@Suite struct `A lockout store` {
    let fixture: StoreFixture
    var store: LockoutStore { fixture.lockouts }
    var directory: String { fixture.scratch + "/state/lockout" }
    let alice = account(1_000, "alice")

    init() throws { fixture = try StoreFixture() }

    @Test func `has no records at first`() async {
        #expect(await store.read(for: alice) == .none)
    }

    @Test(arguments: [
        LockoutRecord(misses: 1, total: 1, locked: nil),
        LockoutRecord(misses: 0, total: .max, locked: nil), locked(5), locked(.max, at: .max),
    ]) func `gives back what was written`(record: LockoutRecord) async throws {
        try await store.write(record, for: alice)
        #expect(await store.read(for: alice) == .record(record))
        let other = LockoutStore(
            directory: fixture.scratch + "/state", executor: fixture.executor,
            log: Log(topic: "storage"))
        #expect(await other.read(for: alice) == .record(record))
        #expect(fixture.names(in: directory) == ["1000-alice"])
        #expect(try fixture.mode(directory) == 0o700)
        #expect(try fixture.mode(directory + "/1000-alice") == 0o600)
    }

    @Test func `has a text that people can read`() async throws {
        try await store.write(locked(5), for: alice)
        let text = try String(contentsOfFile: directory + "/1000-alice", encoding: .utf8)
        #expect(
            text == """
                [Lockout]
                Boot=0f0e-12
                LockedAt=123456789
                Misses=5
                Total=5
                Uid=1000
                User=alice

                """)
    }

    @Test func `keeps no file for a clear record`() async throws {
        try await store.write(LockoutRecord(), for: alice)
        try await store.write(locked(5), for: alice)
        try await store.write(LockoutRecord(), for: alice)
        #expect(await store.read(for: alice) == .none)
        #expect(fixture.names(in: directory).isEmpty)
    }

    @Test func `tells apart who has the same id or the same name`() async throws {
        try await store.write(locked(5), for: alice)
        #expect(await store.read(for: account(1_000, "bob")) == .none)
        #expect(await store.read(for: account(1_001, "alice")) == .none)
        #expect(await store.read(for: account(100, "0-alice")) == .none)
    }

    @Test(arguments: [
        "a b", " lead", "trail ", "tab\t", "x=y", "=", "..x", "é", "e\u{301}", "%2f", "[Lockout]",
        "line\nbreak", "\\s", "#x", "DOMAIN\\user", String(repeating: "n", count: 255),
        "user@example.org", "-", String(repeating: "é", count: 127),
    ]) func `takes any name`(name: String) async throws {
        try await store.write(locked(5), for: account(7, name))
        #expect(await store.read(for: account(7, name)) == .record(locked(5)))
        let files = fixture.names(in: directory)
        #expect(files.count == 1)
        #expect(files.allSatisfy { $0.hasPrefix("7-") })
    }

    @Test func `two names that Unicode calls equal are two accounts`() async throws {
        try await store.write(locked(5), for: account(7, "\u{e9}"))
        #expect(await store.read(for: account(7, "e\u{301}")) == .none)
    }

    @Test(arguments: [
        "", "\n", "[Lockout]\n", "x", "Misses=1\n", "[Lockout]\nUser=alice\nUid=1000\nMisses=1\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=-1\nTotal=1\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=+1\nTotal=1\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=one\nTotal=1\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=\nTotal=1\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=4294967296\nTotal=1\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=5\nTotal=5\nLockedAt=1\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=5\nTotal=5\nBoot=ab\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=5\nTotal=5\nBoot=ab\nLockedAt=x\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=5\nTotal=5\nBoot=../ab\nLockedAt=1\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=5\nTotal=5\nBoot=\nLockedAt=1\n",
        "[Lockout]\nUser=bob\nUid=1000\nMisses=1\nTotal=1\n",
        "[Lockout]\nUser=alice\nUid=1001\nMisses=1\nTotal=1\n",
        "[Other]\nUser=alice\nUid=1000\nMisses=1\nTotal=1\n",
        "[Lockout]\nUser=alice\nUid=1000\nMisses=1\nTotal=1\n#"
            + String(repeating: "x", count: 4_096),
    ]) func `does not understand a damaged record`(text: String) async throws {
        try fixture.plant(Array(text.utf8), at: directory + "/1000-alice", mode: 0o600)
        #expect(await store.read(for: alice) == .unreadable)
        #expect(fixture.names(in: directory) == ["1000-alice"])
        // The password makes it good again.
        try await store.write(LockoutRecord(), for: alice)
        #expect(await store.read(for: alice) == .none)
    }

    @Test(arguments: [
        "printf '\\377' > r", "mkfifo r", "mkdir r", "ln -s /nonexistent r", "truncate -s 1G r",
        "cp good r; chmod 660 r", "ln -s good r", "head -c 3 good > r", "tr 'L' '\\0' < good > r",
    ]) func `does not believe an odd file`(command: String) async throws {
        try fixture.plant(
            Array("[Lockout]\nUser=alice\nUid=1000\nMisses=1\nTotal=1\n".utf8),
            at: directory + "/good")
        try fixture.shell("cd state/lockout; \(command); mv r 1000-alice")
        #expect(await store.read(for: alice) == .unreadable)
    }

    @Test func `does not take an odd directory for none`() async throws {
        try fixture.shell("mkdir -p state; mkdir -m 777 state/lockout")
        #expect(await store.read(for: alice) == .unreadable)
        await #expect(throws: StorageFailure.io(EACCES)) {
            try await store.write(locked(5), for: alice)
        }
        try fixture.shell("rm -r state/lockout; touch state/lockout")
        #expect(await store.read(for: alice) == .unreadable)
        await #expect(throws: StorageFailure.io(ENOTDIR)) {
            try await store.write(LockoutRecord(), for: alice)
        }
    }

    @Test func `a write that fails leaves the older record`() async throws {
        try fixture.shell("mkdir -p state/lockout/1000-alice")
        await #expect(throws: StorageFailure.io(EISDIR)) {
            try await store.write(locked(5), for: alice)
        }
        #expect(fixture.names(in: directory) == ["1000-alice"])
        #expect(await store.read(for: alice) == .unreadable)
    }

    @Test func `is read whole or not at all while it is written`() async throws {
        try await store.write(locked(1), for: alice)
        let other = try StoreFixture()
        let reader = LockoutStore(
            directory: fixture.scratch + "/state", executor: other.executor,
            log: Log(topic: "storage"))
        async let writes: Void = {
            for number in 1...200 { try await store.write(locked(UInt32(number)), for: alice) }
        }()
        var last: UInt32 = 0
        while last < 200 {
            guard case .record(let record) = await reader.read(for: alice) else {
                Issue.record("half a record")
                break
            }
            #expect(record.misses >= last)
            last = record.misses
        }
        try await writes
    }

    @Test func `logs a damaged record once`() async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let fixture = try StoreFixture()
            try fixture.plant([], at: fixture.scratch + "/state/lockout/1000-alice")
            for _ in 0..<3 { _ = await fixture.lockouts.read(for: account(1_000, "alice")) }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.contains("storage:") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("alice") == false)
    }
}
