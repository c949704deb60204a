// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthModel
import PrintStorage
import SystemSupport
import TestKit
import Testing

@Suite struct `A print store` {
    let fixture: StoreFixture
    var store: PrintStore { fixture.store }

    init() throws { fixture = try StoreFixture() }

    @Test func `without a directory there are no prints`() async throws {
        #expect(try await store.ids(of: StoreFixture.alice).isEmpty)
        #expect(try await store.load(of: StoreFixture.alice, for: [StoreFixture.reader]).isEmpty)
    }

    @Test func `what is saved is listed and loaded`() async throws {
        let print = StoreFixture.good()
        try await store.save(print)
        #expect(try await store.ids(of: StoreFixture.alice) == [print.id])
        #expect(try await store.load(of: StoreFixture.alice, for: [StoreFixture.reader]) == [print])
        #expect(try await store.ids(of: StoreFixture.user("bob")).isEmpty)
    }

    @Test(arguments: Finger.allCases) func `each finger has fprintd's file name`(
        finger: Finger
    ) async throws {
        let print = StoreFixture.good("alice", finger)
        try await store.save(print)
        let digit = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "a"][Int(finger.rawValue) - 1]
        #expect(fixture.names(in: fixture.root + "/alice/virtual_device/0") == [digit])
        #expect(try await store.ids(of: StoreFixture.alice) == [print.id])
    }

    @Test func `a print is loaded only for the readers asked for`() async throws {
        var image = PrintBytes.image()
        image.driver = "elan"
        let elan = StoreFixture.kind("elan", "0")
        let other = StoredPrint(
            id: StoreFixture.id("alice", .rightIndex, elan), template: image.bytes)
        let print = StoreFixture.good()
        try await store.save(print)
        try await store.save(other)
        let everything = Set([elan, StoreFixture.reader])
        #expect(try await store.load(of: StoreFixture.alice, for: [elan]) == [other])
        #expect(try await store.load(of: StoreFixture.alice, for: []).isEmpty)
        #expect(
            Set(try await store.load(of: StoreFixture.alice, for: everything)) == [print, other])
        #expect(try await store.ids(of: StoreFixture.alice).count == 2)
        let absent = StoreFixture.kind("elan", "1")
        #expect(try await store.load(of: StoreFixture.alice, for: [absent]).isEmpty)
    }

    @Test func `everybody's prints for one kind of reader are found together`() async throws {
        #expect(try await store.load(for: StoreFixture.reader).isEmpty)
        let prints = [
            StoreFixture.good(), StoreFixture.good("alice", .leftThumb), StoreFixture.good("bob"),
        ]
        for print in prints { try await store.save(print) }
        var image = PrintBytes.image()
        image.driver = "elan"
        let elan = StoreFixture.kind("elan", "0")
        let other = StoredPrint(
            id: StoreFixture.id("alice", .rightIndex, elan), template: image.bytes)
        try await store.save(other)
        #expect(Set(try await store.load(for: StoreFixture.reader)) == Set(prints))
        #expect(try await store.load(for: elan) == [other])
        #expect(try await store.load(for: StoreFixture.kind("elan", "1")).isEmpty)
    }

    @Test func `nobody's bad files hide the prints of others`() async throws {
        let print = StoreFixture.good()
        try await store.save(print)
        let files = FileManager.default
        try files.createSymbolicLink(
            atPath: fixture.root + "/eve", withDestinationPath: fixture.root + "/alice")
        try Data("x".utf8).write(to: URL(filePath: fixture.root + "/mallory"))
        try files.createDirectory(
            atPath: fixture.root + "/bob/virtual_device/0", withIntermediateDirectories: true)
        try Data("FP3".utf8).write(to: URL(filePath: fixture.root + "/bob/virtual_device/0/7"))
        #expect(try await store.load(for: StoreFixture.reader) == [print])
        // A name that no user has, and a file where the directory of all should be.
        try files.createDirectory(
            atPath: fixture.root + "/.hidden", withIntermediateDirectories: true)
        #expect(try await store.load(for: StoreFixture.reader) == [print])
        try files.removeItem(atPath: fixture.root)
        try Data("x".utf8).write(to: URL(filePath: fixture.root))
        await #expect(throws: StorageFailure.self) {
            try await store.load(for: StoreFixture.reader)
        }
    }

    @Test func `a print of the same finger takes the older one's place`() async throws {
        let old = StoreFixture.good()
        let new = StoredPrint(id: old.id, template: PrintBytes.image().bytes)
        try await store.save(old)
        try await store.save(new)
        #expect(try await store.load(of: StoreFixture.alice, for: [StoreFixture.reader]) == [new])
        #expect(fixture.names(in: fixture.root + "/alice/virtual_device/0") == ["7"])
    }

    @Test func `files are 0600 and directories 0700`() async throws {
        try await store.save(StoreFixture.good())
        #expect(try fixture.mode(fixture.path(StoreFixture.id())) == 0o600)
        for path in ["", "/alice", "/alice/virtual_device", "/alice/virtual_device/0"] {
            #expect(try fixture.mode(fixture.root + path) == 0o700)
        }
    }

    @Test func `the last print takes its directories with it`() async throws {
        try await store.save(StoreFixture.good("alice", .leftThumb))
        try await store.save(StoreFixture.good("alice", .rightThumb))
        try await store.delete(StoreFixture.id("alice", .leftThumb))
        #expect(fixture.names(in: fixture.root) == ["alice"])
        try await store.delete(StoreFixture.id("alice", .rightThumb))
        #expect(fixture.names(in: fixture.root).isEmpty)
        #expect(fixture.names(in: fixture.scratch) == ["fprint"])
    }

    @Test func `what is not there cannot be deleted`() async throws {
        await #expect(throws: StorageFailure.notFound) { try await store.delete(StoreFixture.id()) }
        try await store.save(StoreFixture.good("alice", .leftThumb))
        await #expect(throws: StorageFailure.notFound) { try await store.delete(StoreFixture.id()) }
        #expect(try await store.ids(of: StoreFixture.alice).count == 1)
    }

    @Test func `names that Unicode calls equal are two users`() async throws {
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        try #require(composed == decomposed)
        try fixture.plant(
            PrintBytes(user: composed).bytes,
            at: "\(fixture.root)/\(decomposed)/virtual_device/0/7")
        #expect(try await store.ids(of: StoreFixture.user(decomposed)).isEmpty)
        try fixture.plant(
            PrintBytes(user: composed).bytes, at: "\(fixture.root)/\(composed)/virtual_device/0/7")
        #expect(try await store.ids(of: StoreFixture.user(composed)).count == 1)
    }
}

@Suite struct `A save that fails` {
    let fixture: StoreFixture
    var store: PrintStore { fixture.store }

    init() throws { fixture = try StoreFixture() }

    @Test func `of what could not be read back writes nothing`() async throws {
        let wrong = StoredPrint(
            id: StoreFixture.id(), template: PrintBytes(user: "bob").bytes)
        await #expect(throws: StorageFailure.io(EINVAL)) { try await store.save(wrong) }
        #expect(fixture.names(in: fixture.scratch).isEmpty)
    }

    @Test func `over a directory leaves no trace`() async throws {
        let path = fixture.path(StoreFixture.id())
        try fixture.makeDirectory(path)
        await #expect(throws: StorageFailure.io(EISDIR)) {
            try await store.save(StoreFixture.good())
        }
        #expect(fixture.names(in: fixture.root + "/alice/virtual_device/0") == ["7"])
    }

    @Test func `because a file is in a directory's place says so`() async throws {
        try fixture.plant([1], at: fixture.root + "/alice/virtual_device")
        await #expect(throws: StorageFailure.io(ENOTDIR)) {
            try await store.save(StoreFixture.good())
        }
        #expect(fixture.names(in: fixture.root + "/alice") == ["virtual_device"])
    }

    @Test func `because the user's directory is a link writes nothing behind it`() async throws {
        try fixture.shell("mkdir -p elsewhere fprint; ln -s ../elsewhere fprint/alice")
        await #expect(throws: StorageFailure.io(ELOOP)) {
            try await store.save(StoreFixture.good())
        }
        #expect(fixture.names(in: fixture.scratch + "/elsewhere").isEmpty)
    }

    @Test(arguments: [0, 40]) func `for want of space leaves the older print`(
        limit: Int
    ) async {
        // In a process of its own, because the limit is a process's.
        await #expect(processExitsWith: .success) { [limit] in
            let fixture = try StoreFixture()
            let old = StoreFixture.good()
            let new = StoredPrint(id: old.id, template: PrintBytes.image().bytes)
            let other = StoreFixture.good("bob", .leftThumb)
            try await fixture.store.save(old)
            signal(SIGXFSZ, SIG_IGN)
            setLimit(ofFileSize: limit)
            await #expect(throws: StorageFailure.io(EFBIG)) { try await fixture.store.save(new) }
            await #expect(throws: StorageFailure.io(EFBIG)) {
                try await fixture.store.save(other)
            }
            let account = try #require(UserID(1_000).map { Account(id: $0, name: old.id.user) })
            await #expect(throws: StorageFailure.io(EFBIG)) {
                try await fixture.lockouts.write(
                    LockoutRecord(misses: 1, total: 1, locked: nil), for: account)
            }
            let loaded = try await fixture.store.load(
                of: old.id.user, for: [StoreFixture.reader])
            #expect(loaded == [old])
            #expect(fixture.names(in: fixture.root) == ["alice"])
            #expect(fixture.names(in: fixture.root + "/alice/virtual_device/0") == ["7"])
            #expect(fixture.names(in: fixture.scratch + "/state/lockout").isEmpty)
            #expect(await fixture.lockouts.read(for: account) == .none)
        }
    }

    @Test(.enabled(if: canMount, "needs the right to mount"))
    func `on a full disk leaves the older print`() async throws {
        try fixture.shell("mkdir fprint; mount -t tmpfs -o size=64k,mode=0700 none fprint")
        defer { try? fixture.shell("umount -l fprint") }
        let old = StoreFixture.good()
        let new = StoredPrint(id: old.id, template: PrintBytes.image().bytes)
        try await store.save(old)
        try fixture.shell("head -c 1000000 /dev/zero > fprint/filler || true")
        await #expect(throws: StorageFailure.io(ENOSPC)) { try await store.save(new) }
        #expect(try await store.load(of: old.id.user, for: [StoreFixture.reader]) == [old])
        #expect(fixture.names(in: fixture.root + "/alice/virtual_device/0") == ["7"])
        // With room again the same save works.
        try fixture.shell("rm fprint/filler")
        try await store.save(new)
        #expect(try await store.load(of: old.id.user, for: [StoreFixture.reader]) == [new])
    }

    @Test func `or a crash leaves nothing for good`() async throws {
        let device = fixture.root + "/alice/virtual_device/0"
        try await store.save(StoreFixture.good())
        try fixture.plant([1, 2], at: device + "/.localauth-0123456789abcdef")
        try fixture.plant([1, 2], at: device + "/.localauth-mine")
        #expect(try await store.ids(of: StoreFixture.alice) == [StoreFixture.id()])
        try await store.save(StoreFixture.good("alice", .leftThumb))
        #expect(fixture.names(in: device) == [".localauth-mine", "1", "7"])
    }
}

/// No file of this process may grow beyond `size` from now on.
private func setLimit(ofFileSize size: Int) {
    var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: rlim_t(size))
    // SAFETY: the kernel reads the struct during the call.
    unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
}

/// Whether this process may mount a file system; containers often may not.
private let canMount: Bool = {
    guard geteuid() == 0 else { return false }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
        "-c",
        "d=$(mktemp -d) && mount -t tmpfs none $d 2>/dev/null && umount $d; r=$?; rmdir $d; exit $r",
    ]
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
}()
