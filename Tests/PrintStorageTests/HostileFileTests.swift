// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthModel
import PrintStorage
import SystemSupport
import TestKit
import Testing

/// What may lie where a print should be. Each is put in the place of alice's right index finger.
enum HostileFile: CaseIterable, Sendable {
    case empty, threeBytes, magicOnly, firstHalf, lastByteMissing, oneByteMore, random
    case olderMagic, otherDriver, otherDevice, otherUser, noUser, otherFinger, noFinger
    case unknownType, rawWithoutVariant, imageOfOtherForm, noScan, unevenScan, tooManyMinutiae
    case sparseGibibyte, fifo, socket, symbolicLink, danglingLink, directory, device
    case groupWritable, worldWritable, foreignOwner

    func plant(at path: String, in fixture: StoreFixture) throws {
        try fixture.makeDirectory((path as NSString).deletingLastPathComponent)
        switch self {
        case .sparseGibibyte: try fixture.shell("truncate -s 1G '\(path)'")
        case .fifo: try fixture.shell("mkfifo '\(path)'")
        case .socket:
            try fixture.shell(
                """
                cd '\((path as NSString).deletingLastPathComponent)'; python3 -c \
                'import socket; socket.socket(socket.AF_UNIX).bind("7")'
                """)
        case .symbolicLink:
            try fixture.plant(PrintBytes().bytes, at: fixture.scratch + "/good")
            try fixture.shell("ln -s '\(fixture.scratch)/good' '\(path)'")
        case .danglingLink: try fixture.shell("ln -s /nonexistent '\(path)'")
        case .directory: try fixture.makeDirectory(path)
        case .device: try fixture.shell("mknod '\(path)' c 1 5")
        case .groupWritable: try fixture.plant(PrintBytes().bytes, at: path, mode: 0o664)
        case .worldWritable: try fixture.plant(PrintBytes().bytes, at: path, mode: 0o646)
        case .foreignOwner:
            try fixture.plant(PrintBytes().bytes, at: path)
            try fixture.shell("chown 12345 '\(path)'")
        default: try fixture.plant(bytes, at: path)
        }
    }

    /// Only root can make these.
    var needsRoot: Bool { self == .device || self == .foreignOwner }

    private var bytes: [UInt8] {
        var print = PrintBytes()
        let good = print.bytes
        switch self {
        case .threeBytes: return Array(good.prefix(3))
        case .magicOnly: return Array("FP3".utf8) + [0]
        case .firstHalf: return Array(good.prefix(good.count / 2))
        case .lastByteMissing: return good.dropLast()
        case .oneByteMore: return good + [0]
        case .random:
            var generator = SplitMix(seed: 1)
            return (0..<200).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        case .olderMagic: print.magic = "FP1"
        case .otherDriver: print.driver = "goodixmoc"
        case .otherDevice: print.deviceID = "1"
        case .otherUser: print.user = "bob"
        case .noUser: print.user = nil
        case .otherFinger: print.finger = 8
        case .noFinger: print.finger = 0
        case .unknownType: print.content = .other(type: 3, "<'x'>")
        case .rawWithoutVariant: print.content = .other(type: 1, "'x'")
        case .imageOfOtherForm: print.content = .other(type: 2, "([(@ai [1], @ai [2])],)")
        case .noScan: print.content = .scans([])
        case .unevenScan:
            print.content = .scans([PrintBytes.Scan(x: [1, 2], y: [1, 2], angles: [1])])
        case .tooManyMinutiae: print.content = .scans([PrintBytes.Scan(minutiae: 201)])
        default: return []
        }
        return print.bytes
    }
}

@Suite struct `A file that will not do` {
    static let cases = HostileFile.allCases.filter { !$0.needsRoot || geteuid() == 0 }

    let fixture: StoreFixture
    var store: PrintStore { fixture.store }

    init() throws { fixture = try StoreFixture() }

    @Test(arguments: cases) func `alone is as if nothing were enrolled`(
        file: HostileFile
    ) async throws {
        let path = fixture.path(StoreFixture.id())
        try file.plant(at: path, in: fixture)
        #expect(try await store.ids(of: StoreFixture.alice).isEmpty)
        #expect(try await store.load(of: StoreFixture.alice, for: [StoreFixture.reader]).isEmpty)
        #expect(
            (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
                || FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: cases) func `is passed over beside a good one`(
        file: HostileFile
    ) async throws {
        let good = StoreFixture.good("alice", .leftThumb)
        try await store.save(good)
        try file.plant(at: fixture.path(StoreFixture.id()), in: fixture)
        #expect(try await store.ids(of: StoreFixture.alice) == [good.id])
        #expect(try await store.load(of: StoreFixture.alice, for: [StoreFixture.reader]) == [good])
    }

    @Test(arguments: ["0", "b", "A", "07", "7 ", "7.ABCDEF", "77", ".7", "x"])
    func `by its name is passed over`(name: String) async throws {
        try fixture.plant(
            PrintBytes().bytes, at: fixture.root + "/alice/virtual_device/0/\(name)")
        #expect(try await store.ids(of: StoreFixture.alice).isEmpty)
    }

    @Test func `by a name that is not UTF-8 is passed over`() async throws {
        let good = StoreFixture.good()
        try await store.save(good)
        try fixture.shell(
            """
            d=$(printf '\\377\\376'); cd fprint/alice
            cp virtual_device/0/7 virtual_device/0/$d
            cp -r virtual_device $d; cp -r virtual_device/0 virtual_device/$d
            """)
        #expect(try await store.ids(of: StoreFixture.alice) == [good.id])
    }

    @Test(arguments: ["ln -s ../good", "printf x >", "mkfifo", "mkdir -m 770"])
    func `in a directory's place is passed over below the user`(command: String) async throws {
        let good = StoreFixture.good()
        try await store.save(good)
        try fixture.shell(
            """
            cp -r fprint/alice/virtual_device fprint/alice/good; cd fprint/alice
            \(command) elan; cd virtual_device; \(command) 1
            """)
        let kinds: Set = [
            StoreFixture.reader, StoreFixture.kind("elan", "0"),
            StoreFixture.kind("virtual_device", "1"),
        ]
        #expect(try await store.ids(of: StoreFixture.alice) == [good.id])
        #expect(try await store.load(of: StoreFixture.alice, for: kinds) == [good])
    }

    @Test(
        arguments: [
            ("ln -s bob", ELOOP), ("printf x >", ENOTDIR), ("mkdir -m 770", EACCES),
            ("mkdir -m 707", EACCES),
        ]
    ) func `in the place of the user's directory is not "no prints"`(
        command: String, code: Int32
    ) async throws {
        try await store.save(StoreFixture.good("bob"))
        try fixture.shell("cd fprint; \(command) alice")
        await #expect(throws: StorageFailure.io(code)) {
            try await store.ids(of: StoreFixture.alice)
        }
        await #expect(throws: StorageFailure.io(code)) {
            try await store.load(of: StoreFixture.alice, for: [StoreFixture.reader])
        }
    }

    @Test func `in the place of all prints is not "no prints"`() async throws {
        try fixture.shell("mkdir -m 777 fprint")
        await #expect(throws: StorageFailure.io(EACCES)) {
            try await store.ids(of: StoreFixture.alice)
        }
        try fixture.shell("rmdir fprint; touch fprint")
        await #expect(throws: StorageFailure.io(ENOTDIR)) {
            try await store.ids(of: StoreFixture.alice)
        }
    }

    @Test func `can be replaced by a good one`() async throws {
        let good = StoreFixture.good()
        try HostileFile.firstHalf.plant(at: fixture.path(good.id), in: fixture)
        #expect(try await store.ids(of: StoreFixture.alice).isEmpty)
        try await store.save(good)
        #expect(try await store.ids(of: StoreFixture.alice) == [good.id])
    }

    @Test func `is logged once until it changes, without the user's name`() async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let fixture = try StoreFixture()
            let path = fixture.path(StoreFixture.id())
            try fixture.plant([], at: path)
            for _ in 0..<3 { _ = try await fixture.store.ids(of: StoreFixture.alice) }
            _ = try await fixture.store.load(of: StoreFixture.alice, for: [StoreFixture.reader])
            try fixture.plant(PrintBytes(user: "bob").bytes, at: path)
            for _ in 0..<3 { _ = try await fixture.store.ids(of: StoreFixture.alice) }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.contains("storage:") }
        #expect(lines.count == 2)
        #expect(lines.first?.contains("reason=\"not a print\" file=virtual_device/0/7") == true)
        #expect(lines.last?.contains("reason=\"made for another user\"") == true)
        #expect(!lines.contains { $0.contains("alice") })
    }

    @Test(.enabled(if: geteuid() == 0, "needs root, to become somebody else"))
    func `by its mode is passed over, and as a directory not "no prints"`() async {
        await #expect(processExitsWith: .success) {
            let fixture = try StoreFixture()
            try await fixture.store.save(StoreFixture.good())
            try await fixture.store.save(StoreFixture.good("alice", .leftThumb))
            setMode(0, of: fixture.path(StoreFixture.id()))
            // Root may read everything.
            #expect(try await fixture.store.ids(of: StoreFixture.alice).count == 2)
            try fixture.shell("chown -R 12345 .")
            try #require(setuid(12345) == 0)
            #expect(
                try await fixture.store.ids(of: StoreFixture.alice)
                    == [StoreFixture.id("alice", .leftThumb)])
            setMode(0, of: fixture.root + "/alice/virtual_device/0")
            await #expect(throws: StorageFailure.io(EACCES)) {
                try await fixture.store.ids(of: StoreFixture.alice)
            }
            setMode(0o700, of: fixture.root + "/alice/virtual_device/0")
        }
    }
}
