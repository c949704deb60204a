// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthModel
import PrintStorage
import SystemSupport
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A listing's digest` {
    let fixture: StoreFixture
    var store: PrintStore { fixture.store }
    let alice = StoreFixture.alice
    var folder: String { fixture.root + "/alice/virtual_device/0" }

    init() throws { fixture = try StoreFixture() }

    private func digest() async throws -> [UInt8] { try await store.list(of: alice).digest }

    private static func image(_ finger: Finger) -> [UInt8] {
        PrintBytes.image(finger: finger.rawValue).bytes
    }

    @Test func `has 32 bytes, also of nothing`() async throws {
        let none = try await digest()
        #expect(none.count == 32)
        #expect(try await store.list(of: StoreFixture.user("bob")).digest == none)
        try await store.save(StoreFixture.good())
        #expect(try await digest() != none)
        try await store.delete(StoreFixture.id())
        #expect(try await digest() == none)
    }

    @Test func `is another for each other set of prints`() async throws {
        var seen: Set<[UInt8]> = [try await digest()]
        try await store.save(StoreFixture.good())
        #expect(seen.insert(try await digest()).inserted)
        // Replaced.
        try await store.save(StoredPrint(id: StoreFixture.id(), template: Self.image(.rightIndex)))
        #expect(seen.insert(try await digest()).inserted)
        try await store.save(StoreFixture.good("alice", .leftThumb))
        #expect(seen.insert(try await digest()).inserted)
        try await store.delete(StoreFixture.id())
        #expect(seen.insert(try await digest()).inserted)
        // The same finger on another reader.
        let other = StoreFixture.kind("virtual_device", "1")
        var bytes = PrintBytes(finger: Finger.leftThumb.rawValue)
        bytes.deviceID = "1"
        try await store.save(
            StoredPrint(id: StoreFixture.id("alice", .leftThumb, other), template: bytes.bytes))
        #expect(seen.insert(try await digest()).inserted)
        try await store.delete(StoreFixture.id("alice", .leftThumb))
        #expect(seen.insert(try await digest()).inserted)
    }

    @Test func `is the same whatever else happens around the prints`() async throws {
        for finger in [Finger.rightIndex, .leftThumb] {
            try await store.save(StoreFixture.good("alice", finger))
        }
        let before = try await digest()
        try fixture.shell("touch fprint/alice/virtual_device/0/*; chmod 600 fprint/alice/*/*/7")
        #expect(try await digest() == before)
        try fixture.plant([1, 2, 3], at: folder + "/3")
        try fixture.plant(PrintBytes(user: "bob", finger: 4).bytes, at: folder + "/4")
        try fixture.shell("ln -s 7 fprint/alice/virtual_device/0/5")
        #expect(try await digest() == before)
        try await store.save(StoreFixture.good("bob"))
        #expect(try await digest() == before)
        // Made again in another order, under other numbers of the disk's.
        try fixture.shell(
            "cd fprint/alice/virtual_device; mv 0 t; mkdir 0; cp t/7 0; cp t/1 0; rm -r t")
        #expect(try await digest() == before)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `What comes and goes unseen` {
    let fixture: StoreFixture
    var store: PrintStore { fixture.store }
    let alice = StoreFixture.alice
    var folder: String { fixture.root + "/alice/virtual_device/0" }

    init() async throws {
        fixture = try StoreFixture()
        try fixture.plant(PrintBytes(finger: 1).bytes, at: fixture.scratch + "/1")
        try fixture.plant(PrintBytes().bytes, at: fixture.scratch + "/7")
        try fixture.plant(PrintBytes.image().bytes, at: fixture.scratch + "/image")
        try await store.save(StoreFixture.good())
        try await store.start { _ in }
    }

    private func unseen() async throws -> UInt64 { try await store.list(of: alice).unseen }

    /// Does something in the prints' folder and gives what that counted for. A few calls of the
    /// system only, so that the store's thread can take none of the notices in between.
    private func unseen(after commands: String) async throws -> UInt64 {
        let before = try await store.list(of: alice)
        try fixture.shell("cd fprint/alice/virtual_device/0; " + commands)
        let after = try await store.list(of: alice)
        #expect(after.digest == before.digest, "\(commands)")
        return after.unseen - before.unseen
    }

    @Test(arguments: [
        // Put in its place, as fprintd does it, and taken away.
        "cp ../../../../1 t; mv t 1; rm 1", "cp ../../../../1 t; mv t 1; mv 1 t; rm t",
        // Written in its place.
        "cp ../../../../1 1; rm 1",
        // Another print in place of the one that is there, and back.
        "cp -p 7 p; cp ../../../../image t; mv t 7; mv p 7",
        "mv 7 p; cp ../../../../image t; mv t 7; rm 7; mv p 7",
        "cp ../../../../image 7; cp ../../../../7 7",
        // A link to a print is one too, as long as it is there.
        "ln ../../../../1 1; rm 1",
        // With its directory.
        "mkdir ../1; cp ../../../../1 ../1/1; rm -r ../1",
        "mkdir -p ../../x/0; rm -r ../../x",
    ]) func `is counted`(commands: String) async throws {
        #expect(try await unseen(after: commands) > 0)
    }

    @Test(arguments: [
        "touch 7; touch 7", "chmod 600 7; chmod 644 7", "cat 7 >/dev/null", "cp 7 x; rm x",
        "mv 7 p; mv p 7", "cp ../../../../7 t; mv t 7", "printf x >2", "printf x >t; mv t 2",
        "ln -s 7 2", "mkdir -p ../../../bob/x/0; cp 7 ../../../bob/x/0/1; rm ../../../bob/x/0/1",
    ]) func `is not what leaves the prints as they were`(commands: String) async throws {
        #expect(try await unseen(after: commands) == 0)
    }

    @Test func `is not a file that was looked at before it went`() async throws {
        let before = try await unseen()
        try fixture.shell("printf x >fprint/alice/virtual_device/0/2")
        #expect(try await unseen() == before)
        try fixture.shell("rm fprint/alice/virtual_device/0/2")
        #expect(try await unseen() == before)
    }

    @Test func `is each of a hundred bursts`() async throws {
        var last = try await unseen()
        let bytes = PrintBytes(finger: 1).bytes
        for round in 0..<100 {
            if round % 2 == 0 {
                try fixture.plant(bytes, at: folder + "/1")
            } else {
                try fixture.plant(bytes, at: folder + "/t")
                #expect(unsafe rename(folder + "/t", folder + "/1") == 0)
            }
            #expect(unsafe unlink(folder + "/1") == 0)
            let now = try await unseen()
            #expect(now > last, "round \(round)")
            last = now
        }
    }

    /// Whatever the moment of the looks: either one has the print, or it is counted.
    @Test func `is told also when looks fall in between`() async throws {
        let bytes = PrintBytes(finger: 1).bytes
        var before = try await store.list(of: alice)
        for _ in 0..<200 {
            let (file, temporary) = (folder + "/1", folder + "/t")
            try fixture.plant(bytes, at: temporary)
            let mover = Task.detached {
                unsafe _ = rename(temporary, file)
                unsafe _ = unlink(file)
            }
            var isTold = false
            func look() async throws {
                let now = try await store.list(of: alice)
                if now.digest != before.digest || now.unseen != before.unseen { isTold = true }
                before = now
            }
            try await look()
            await mover.value
            try await look()
            #expect(isTold)
        }
    }

    @Test func `is anything, where the root was another for a while`() async throws {
        let before = try await unseen()
        try fixture.shell("mv fprint away; mkdir fprint")
        #expect(try await store.list(of: alice).prints.isEmpty)
        try fixture.shell("rmdir fprint; mv away fprint")
        #expect(try await unseen() > before)
    }

    @Test func `is counted for those only who were looked at`() async throws {
        try fixture.shell("mkdir -p fprint/bob/x/0; rm -r fprint/bob")
        #expect(try await store.list(of: StoreFixture.user("bob")).unseen == unseen())
    }
}
