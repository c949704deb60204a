// SPDX-License-Identifier: Apache-2.0

import FingerprintReaders
import Foundation
import LocalAuthModel
import TestKit
import Testing

@Suite struct `Where a reader is` {
    @Test func `comes of the words for it and for all hubs on its way`() {
        let rules: [([String?], ReaderPlacement)] = [
            (["fixed"], .builtIn), (["fixed", "fixed"], .builtIn), (["removable"], .external),
            // In a docking station, or in a keyboard with a reader.
            (["fixed", "removable"], .external), (["removable", "fixed"], .external),
            (["unknown", "removable"], .external), (["unknown"], .unknown),
            (["fixed", "unknown"], .unknown), ([nil], .unknown), (["fixed", nil], .unknown),
            (["FIXED"], .unknown), ([""], .unknown), ([], .unknown),
        ]
        for (words, place) in rules {
            #expect(USBTree.placement(words) == place, "\(words)")
        }
        #expect(USBTree.way(to: "3-1.1.3") == ["3-1.1.3", "3-1.1", "3-1"])
        #expect(USBTree.way(to: "1-9") == ["1-9"])
    }

    @Test func `is found by bus and address`() throws {
        let tree = try MadeTree()
        try tree.add("usb1", 1, 1, "unknown")
        try tree.add("usb2", 2, 1, "unknown")
        try tree.add("1-4", 1, 2, "removable")
        try tree.add("1-4.2", 1, 9, "fixed")
        try tree.add("2-4", 2, 9, "fixed")
        try tree.add("2-7", 2, 3, "fixed\nremovable")
        try tree.add("2-7:1.0", 2, 4, "removable")
        #expect(tree.placement(1, 9) == .external)
        #expect(tree.placement(2, 9) == .builtIn)
        #expect(tree.placement(2, 3) == .builtIn)
        #expect(tree.placement(2, 4) == .unknown, "an interface is no device")
        #expect(tree.placement(2, 8) == .unknown, "no such device")
        #expect(tree.placement(1, 1) == .unknown, "a root hub")
    }

    @Test func `is unknown where the files are not what the kernel writes`() throws {
        let tree = try MadeTree()
        try tree.add("1-1", 1, 2, String(repeating: "fixed", count: 1_000))
        try tree.add("1-2", 1, 3, "fixed", addressText: "3 4")
        try tree.add("1-3", 1, 4, "fixed", addressText: "99999999999999999999999")
        try tree.add("1-4.1", 1, 5, "fixed")  // The hub has no entry.
        try tree.add("1-1.1.1.1.1.1.1", 1, 6, "fixed")
        try tree.add("1-", 1, 7, "fixed")
        try tree.add("1-a", 1, 8, "fixed")
        try tree.add("2-1", 1, 9, "fixed")  // On another bus than its name says.
        for address in 2...9 as ClosedRange<UInt8> {
            #expect(tree.placement(1, address) == .unknown, "\(address)")
        }
        #expect(USBTree(folder: "/nonexistent").placement(bus: 1, address: 2) == .unknown)
        try tree.add("1-9", 1, 10, "fixed")
        #expect(tree.placement(1, 10) == .builtIn)
        // Bytes that are no text are no word, and a pipe must not be waited for.
        try Data([0xff, 0xfe]).write(to: tree.folder.appending(path: "1-9/removable"))
        #expect(tree.placement(1, 10) == .unknown)
        try tree.pipe("1-9/removable")
        #expect(tree.placement(1, 10) == .unknown)
    }

    @Test func `is nowhere for a virtual reader`() async throws {
        let run = try await ProbeRun(.device)
        #expect(try await run.say("placement 1", until: "placement 1") == "unknown")
        try await run.finish()
    }
}

@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs umockdev-run, and recordings at \(Recordings.folder)") {
        Recordings.areUsable
    })
struct `Where recorded readers are` {
    // What their machines said: parts of laptops, plugged in (one of them behind two hubs), and
    // in a port that the firmware says nothing about.
    @Test(arguments: [
        ("synaptics", "built-in"), ("vfs301", "built-in"), ("egis0570", "built-in"),
        ("elan", "external"), ("aes3500", "external"), ("goodixmoc", "external"),
        ("nb1010", "unknown"),
    ])
    func `is what their machines told`(driver: String, place: String) async throws {
        let run = try await ProbeRun(recorded: driver)
        #expect(try await run.say("placement 1", until: "placement 1") == place)
        try await run.finish()
    }

    @Test(arguments: [("fixed", "built-in"), ("removable", "external")])
    func `follows what the machine tells`(word: String, place: String) async throws {
        let tree = try MadeTree()
        let recorded = Recordings.file("nb1010", "device")
        let text = try String(contentsOfFile: recorded, encoding: .utf8)
        let description = tree.folder.appending(path: "device").path
        // The first is the reader's own, the second the root hub's, which has no say.
        let first = try #require(text.firstRange(of: "A: removable=unknown"))
        try text.replacingCharacters(in: first, with: "A: removable=\(word)")
            .write(toFile: description, atomically: false, encoding: .utf8)
        let capture = Recordings.file("nb1010", "capture.ioctl")
        let run = try await ProbeRun(
            recorded: "nb1010",
            wrapper: [
                "/usr/bin/env", "FP_DEVICE_EMULATION=1", "umockdev-run", "-d", description,
                "-i", "/dev/bus/usb/001/003=\(capture)", "--",
            ])
        #expect(try await run.say("placement 1", until: "placement 1") == place)
        try await run.finish()
    }
}

/// A folder like the kernel's, with the devices that a test puts there.
private final class MadeTree {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "usb-tree-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func add(
        _ name: String, _ bus: Int, _ address: Int, _ removable: String, addressText: String? = nil
    ) throws {
        let device = folder.appending(path: name)
        try FileManager.default.createDirectory(at: device, withIntermediateDirectories: true)
        for (file, text) in [
            ("busnum", "\(bus)"), ("devnum", addressText ?? "\(address)"),
            ("removable", removable),
        ] {
            try Data((text + "\n").utf8).write(to: device.appending(path: file))
        }
    }

    func pipe(_ name: String) throws {
        let path = folder.appending(path: name).path
        try FileManager.default.removeItem(atPath: path)
        // SAFETY: the path lives during the call.
        try #require(unsafe mkfifo(path, 0o600) == 0)
    }

    func placement(_ bus: UInt8, _ address: UInt8) -> ReaderPlacement {
        USBTree(folder: folder.path).placement(bus: bus, address: address)
    }
}
