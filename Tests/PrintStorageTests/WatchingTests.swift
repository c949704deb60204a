// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthModel
import PrintStorage
import SystemSupport
import TestKit
import Testing

/// The notices a store gives, in order; waited for, never for long.
private struct Notices {
    private var iterator: AsyncStream<UserName?>.AsyncIterator

    init(of store: PrintStore) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: UserName?.self)
        iterator = stream.makeAsyncIterator()
        try await store.start { continuation.yield($0) }
    }

    /// Skips notices until one that is like `wanted`: changes can come in one batch or in more.
    mutating func wait(for wanted: UserName?) async {
        while let notice = await iterator.next(isolation: #isolation), notice != wanted {}
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A watched store` {
    let fixture: StoreFixture
    var store: PrintStore { fixture.store }
    let alice = StoreFixture.alice

    init() throws {
        fixture = try StoreFixture()
        try fixture.plant(PrintBytes().bytes, at: fixture.scratch + "/7")
        try fixture.plant(PrintBytes.image().bytes, at: fixture.scratch + "/image")
    }

    @Test func `makes its directory and its parents`() async throws {
        let deep = PrintStore(
            directory: fixture.scratch + "/a/b/c", executor: fixture.executor,
            log: Log(topic: "storage"))
        try await deep.start { _ in }
        #expect(try fixture.mode(fixture.scratch + "/a/b/c") == 0o700)
    }

    @Test func `reports a finger enrolled by another program, step by step`() async throws {
        var notices = try await Notices(of: store)
        #expect(try await store.ids(of: alice).isEmpty)
        for name in [
            "fprint/alice", "fprint/alice/virtual_device", "fprint/alice/virtual_device/0",
        ] {
            try fixture.shell("mkdir \(name)")
            await notices.wait(for: alice)
            #expect(try await store.ids(of: alice).isEmpty)
        }
        try fixture.shell(
            "cp 7 fprint/alice/virtual_device/0/t; cd fprint/alice/virtual_device/0; mv t 7")
        await notices.wait(for: alice)
        // "t" and its change of name may be two batches.
        while try await store.ids(of: alice).isEmpty { await notices.wait(for: alice) }
        #expect(try await store.ids(of: alice) == [StoreFixture.id()])
    }

    @Test func `reports a whole tree that comes at once`() async throws {
        var notices = try await Notices(of: store)
        #expect(try await store.ids(of: alice).isEmpty)
        try fixture.shell(
            "mkdir -p new/virtual_device/0; cp 7 new/virtual_device/0; mv new fprint/alice")
        await notices.wait(for: alice)
        #expect(try await store.ids(of: alice) == [StoreFixture.id()])
    }

    @Test(arguments: [
        "rm fprint/alice/virtual_device/0/7", "rm -r fprint/alice/virtual_device",
        "rm -r fprint/alice", "mv fprint/alice fprint/bob",
        "chmod 666 fprint/alice/virtual_device/0/7",
        "mv fprint/alice/virtual_device fprint/alice/elan", ": > fprint/alice/virtual_device/0/7",
    ]) func `reports a print that goes`(command: String) async throws {
        try await store.save(StoreFixture.good())
        var notices = try await Notices(of: store)
        #expect(try await store.ids(of: alice).count == 1)
        try fixture.shell(command)
        await notices.wait(for: alice)
        while try await !store.ids(of: alice).isEmpty { await notices.wait(for: alice) }
    }

    @Test func `reports a print that is replaced, however often`() async throws {
        try await store.save(StoreFixture.good())
        var notices = try await Notices(of: store)
        for name in ["image", "7", "image"] {
            _ = try await store.load(of: alice, for: [StoreFixture.reader])
            try fixture.shell("cp \(name) t; mv t fprint/alice/virtual_device/0/7")
            await notices.wait(for: alice)
        }
    }

    @Test func `reports its own saves and deletions`() async throws {
        var notices = try await Notices(of: store)
        try await store.save(StoreFixture.good())
        await notices.wait(for: alice)
        #expect(try await store.ids(of: alice).count == 1)
        try await store.delete(StoreFixture.id())
        await notices.wait(for: alice)
        #expect(try await store.ids(of: alice).isEmpty)
    }

    @Test func `knows a directory that has changed its owner`() async throws {
        try await store.save(StoreFixture.good())
        var notices = try await Notices(of: store)
        #expect(try await store.ids(of: alice).count == 1)
        try fixture.shell("mv fprint/alice fprint/bob")
        await notices.wait(for: StoreFixture.user("bob"))
        #expect(try await store.ids(of: StoreFixture.user("bob")).isEmpty)
        try fixture.shell("rm fprint/bob/virtual_device/0/7")
        await notices.wait(for: StoreFixture.user("bob"))
    }

    @Test func `finds a root again that was deleted and made anew`() async throws {
        try await store.save(StoreFixture.good())
        var notices = try await Notices(of: store)
        #expect(try await store.ids(of: alice).count == 1)
        try fixture.shell("rm -r fprint")
        await notices.wait(for: nil)
        #expect(try await store.ids(of: alice).isEmpty)
        try fixture.shell("mkdir fprint")
        await notices.wait(for: nil)
        try fixture.shell("mkdir -p fprint/bob")
        await notices.wait(for: StoreFixture.user("bob"))
    }

    @Test func `finds a root again that was put aside for another`() async throws {
        var notices = try await Notices(of: store)
        for _ in 0..<3 {
            try fixture.shell(
                "mkdir -p new/alice/virtual_device/0; cp 7 new/alice/virtual_device/0")
            try fixture.shell("mv fprint old.$$")
            await notices.wait(for: nil)
            try fixture.shell("mv new fprint")
            await notices.wait(for: nil)
            #expect(try await store.ids(of: alice) == [StoreFixture.id()])
        }
    }

    @Test func `finds that the root is another, though no notice said so`() async throws {
        // The directory above the root's parent is moved: nothing that is watched sees it.
        let deep = PrintStore(
            directory: fixture.scratch + "/a/b/c", executor: fixture.executor,
            log: Log(topic: "storage"))
        var notices = try await Notices(of: deep)
        try fixture.shell("mv a gone; mkdir -p a/b/c/alice/virtual_device/0")
        try fixture.shell("cp 7 a/b/c/alice/virtual_device/0")
        #expect(try await deep.ids(of: alice) == [StoreFixture.id()])
        await notices.wait(for: nil)
        try fixture.shell("rm a/b/c/alice/virtual_device/0/7")
        await notices.wait(for: alice)
        #expect(try await deep.ids(of: alice).isEmpty)
    }

    @Test func `makes the root again for a save`() async throws {
        var notices = try await Notices(of: store)
        try fixture.shell("rmdir fprint")
        await notices.wait(for: nil)
        try await store.save(StoreFixture.good())
        await notices.wait(for: nil)
        #expect(try await store.ids(of: alice).count == 1)
    }

    @Test func `survives more notices than the kernel keeps`() async throws {
        let most = try #require(
            Int(
                try String(
                    contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8
                )
                .trimmingCharacters(in: .whitespacesAndNewlines)))
        try #require(most <= 1 << 20)
        var notices = try await Notices(of: store)
        try await store.save(StoreFixture.good())
        #expect(try await store.ids(of: alice).count == 1)
        // The store's thread is held while the notices pile up.
        let stage = Stage(fixture.executor)
        let root = fixture.root
        await stage.run {
            for number in 0...most {
                let path = root + (number % 2 == 0 ? "/x" : "/y")
                unsafe _ = mkdir(path, 0o700)
                unsafe _ = rmdir(path)
            }
        }
        await notices.wait(for: nil)
        #expect(try await store.ids(of: alice).count == 1)
        try fixture.shell("rm fprint/alice/virtual_device/0/7")
        await notices.wait(for: alice)
    }

    @Test func `goes with its owner and leaves nothing behind`() async throws {
        for _ in 0..<20 {
            let store = PrintStore(
                directory: fixture.root, executor: fixture.executor, log: Log(topic: "storage"))
            try await store.start { _ in }
            _ = try await store.ids(of: alice)
            #expect(try watchers(of: fixture.root) > 0)
        }
        // The last stores end on their thread; one more job there comes after.
        await Stage(fixture.executor).run {}
        #expect(try watchers(of: fixture.root) == 0)
    }

    /// How many of this process's descriptors watch a folder. (Tests beside this one have some of
    /// their own.)
    private func watchers(of path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let inode = try #require(attributes[.systemFileNumber] as? UInt64)
        let mark = "inotify wd:", number = "ino:" + String(inode, radix: 16) + " "
        return fixture.names(in: "/proc/self/fdinfo").count { name in
            let info = try? String(contentsOfFile: "/proc/self/fdinfo/" + name, encoding: .utf8)
            return info.map { $0.contains(mark) && $0.contains(number) } ?? false
        }
    }
}

/// Something that runs on the store's thread and holds it.
private actor Stage {
    let executor: PollExecutor
    init(_ executor: PollExecutor) { self.executor = executor }
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }
    func run(_ step: @Sendable () -> Void) { step() }
}
