// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The machine's sleep` {
    private let match = "matched alice/right-index-finger"

    /// A run with one open reader, on which alice's finger is enrolled.
    private func enrolled(_ driver: VirtualReader.Driver = .device) async throws -> ProbeRun {
        let run = try await ProbeRun(driver)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(driver == .device ? run.device : run.storage)
        return run
    }

    /// A run whose reader scans and ignores every wish to end, until it is given a command.
    private func deaf() async throws -> ProbeRun {
        let run = try await enrolled()
        try run.device.send("SET_CANCELLATION_ENABLED 0")
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        return run
    }

    @Test(arguments: VirtualReader.Driver.allCases)
    func `ends a scan, and after it the next one matches`(
        driver: VirtualReader.Driver
    ) async throws {
        let run = try await enrolled(driver)
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        try await run.say("suspend", until: "suspended")
        #expect(try await run.hear("scan 1") == "failed cancelled")
        #expect(try await run.say("scan 1 alice", until: "scan 1") == "failed busy")
        #expect(try await run.say("delete 1 alice", until: "delete 1") == "failed busy")
        try await run.say("resume", until: "resumed")
        try run.say("scan 1 alice")
        try (driver == .device ? run.device : run.storage).send("SCAN alice-right")
        #expect(try await run.hear("scan 1") == match)
        try await run.finish()
    }

    @Test func `ends an enrolment, and after it the finger can be enrolled`() async throws {
        let run = try await ProbeRun(.storage)
        try await run.say("open 1", until: "open 1 ok")
        try run.say("enrol 1 alice alice right-index-finger")
        try run.storage.send("SCAN alice-right")
        try await run.hear("stage 1 1/5 -")
        try await run.say("suspend", until: "suspended")
        #expect(try await run.hear("enrol 1") == "failed cancelled")
        try await run.say("resume", until: "resumed")
        #expect(try run.storage.send("LIST") == "")
        try await run.enrolAlice(run.storage)
        try await run.finish()
    }

    @Test func `waits for a deletion, which is not left half done`() async throws {
        let run = try await enrolled(.storage)
        // Without a command to go on at once, the reader takes half a second.
        try run.say("delete 1 alice")
        let time = try await ContinuousClock().measure {
            try await run.say("suspend", until: "suspended")
        }
        #expect(time > .milliseconds(300))
        #expect(try await run.hear("delete 1") == "ok")
        try await run.say("resume", until: "resumed")
        #expect(try run.storage.send("LIST") == "")
        try await run.finish()
    }

    @Test func `lets no reader be opened, and a lease be given back afterwards`() async throws {
        let run = try await enrolled()
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        try await run.say("suspend", until: "suspended")
        try run.say("close 1")
        #expect(try await run.say("open 1", until: "open 1") == "failed busy")
        #expect(!run.seen.contains("close 1 ok"))
        try await run.say("resume", until: "resumed")
        try await run.hear("close 1 ok")
        try await run.say("open 1", until: "open 1 ok")
        try await run.finish()
    }

    @Test func `that begins while a reader is opened ends with a reader that works`() async throws {
        let run = try await enrolled()
        try run.device.send("SET_KEEP_ALIVE 1")
        try await run.say("close 1", until: "close 1 ok")
        try run.device.send("SLEEP 300")
        try run.say("open 1")
        try await run.say("suspend", until: "suspended")
        try await run.hear("open 1 ok")
        #expect(try await run.say("scan 1 alice", until: "scan 1") == "failed busy")
        try await run.say("resume", until: "resumed")
        try run.say("scan 1 alice")
        try run.device.send("SCAN alice-right")
        #expect(try await run.hear("scan 1") == match)
        try await run.finish()
    }

    @Test func `that begins while a reader is closed ends with a reader that works`() async throws {
        let run = try await enrolled()
        try run.device.send("SLEEP 300")
        try run.say("close 1")
        try await run.say("suspend", until: "suspended")
        try await run.say("resume", until: "resumed")
        try await run.hear("close 1 ok")
        try await run.say("open 1", until: "open 1 ok")
        try await run.finish()
    }

    @Test func `does not wait for a driver that ignores it, nor do other readers`() async throws {
        let run = try await ProbeRun(.device, .storage)
        for reader in 1...2 { try await run.say("open \(reader)", until: "open \(reader) ok") }
        let (device, storage) = run.order
        try await run.enrolAlice(on: device, run.device)
        try await run.enrol(
            "bob", on: storage, run.storage, user: "bob", finger: "left-thumb", scan: "bob-left")
        try run.device.send("SET_CANCELLATION_ENABLED 0")
        try await run.say("scan \(device) alice", until: "sensor \(device) fingerNeeded")
        try await run.say("scan \(storage) bob", until: "sensor \(storage) fingerNeeded")
        let time = try await ContinuousClock().measure {
            try await run.say("suspend", until: "suspended")
        }
        print("suspended in \(time) with a driver that ignores it")
        #expect(time < .seconds(4))
        #expect(try await run.hear("scan \(storage)") == "failed cancelled")
        #expect(!run.seen.contains("scan \(device) failed cancelled"))

        try await run.say("resume", until: "resumed")
        // The one reader works, the other does when its driver has ended the old scan.
        try run.say("scan \(storage) bob")
        try run.storage.send("SCAN bob-left")
        #expect(try await run.hear("scan \(storage)") == "matched bob/left-thumb")
        try run.device.send("SCAN alice-right")
        #expect(try await run.hear("scan \(device)") == "failed cancelled")
        while try await run.say("scan \(device) nobody", until: "scan \(device)") == "failed busy" {
        }
        // The touch that woke the driver is still to be had.
        #expect(try await run.say("scan \(device) alice", until: "scan \(device)") == match)
        try await run.finish()
    }

    @Test func `that a driver ignored from the first to the last moment does no harm`() async throws
    {
        let run = try await deaf()
        for _ in 0..<2 {
            try await run.say("suspend", until: "suspended")
            try await run.say("resume", until: "resumed")
        }
        try await run.say("suspend", until: "suspended")
        try run.device.send("SCAN alice-right")
        #expect(try await run.hear("scan 1") == "failed cancelled")
        try await run.say("resume", until: "resumed")
        // The touch that woke the driver is still to be had.
        #expect(try await run.say("scan 1 alice", until: "scan 1") == match)
        try await run.finish()
    }

    @Test func `of a cancelled scan hides its match`() async throws {
        let run = try await deaf()
        try run.say("suspend")
        try run.say("cancel 1")
        try await run.hear("suspended")
        try run.device.send("SCAN alice-right")
        #expect(try await run.hear("scan 1") == "failed cancelled")
        try await run.say("resume", until: "resumed")
        try await run.say("close 1", until: "close 1 ok")
        try await run.finish()
    }

    @Test func `twice is once, and waking a reader that is awake does nothing`() async throws {
        let run = try await enrolled()
        try await run.say("resume", until: "resumed")
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        for _ in 0..<2 { try run.say("suspend") }
        for _ in 0..<2 { try await run.hear("suspended") }
        #expect(try await run.hear("scan 1") == "failed cancelled")
        for _ in 0..<2 { try run.say("resume") }
        for _ in 0..<2 { try await run.hear("resumed") }
        try run.say("scan 1 alice")
        try run.device.send("SCAN alice-right")
        #expect(try await run.hear("scan 1") == match)
        try await run.finish()
    }

    @Test(arguments: [false, true])
    func `does not keep the service from stopping`(driverListens: Bool) async throws {
        let run = driverListens ? try await enrolled() : try await deaf()
        if driverListens { try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded") }
        try await run.say("suspend", until: "suspended")
        let time = try await ContinuousClock().measure {
            try await run.say("stop", until: "stopped")
        }
        print("stopped in \(time) while asleep, driver listens: \(driverListens)")
        #expect(time < (driverListens ? .seconds(1) : .seconds(4)))
        if driverListens {
            while try await run.say("threads", until: "threads") != "0" {}
            try await run.say("start", until: "started")
            try await run.say("open 2", until: "open 2 ok")
        }
        try await run.finish()
    }

    @Test(arguments: [false, true])
    func `can take a reader away`(isScanning: Bool) async throws {
        let run = try await enrolled()
        if isScanning { try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded") }
        try await run.say("suspend", until: "suspended")
        try run.device.send("UNPLUG")
        try await run.hear("removed 1")
        try run.say("close 1")
        try await run.say("resume", until: "resumed")
        try await run.hear("close 1 ok")
        #expect(try await run.say("open 1", until: "open 1") == "failed removed")
        try await run.say("stop", until: "stopped")
        try await run.finish()
    }

    @Test func `leaves nothing behind in 200 nights`() async throws {
        let run = try await enrolled()
        var counts: [Int] = []
        for night in 0..<200 {
            if night.isMultiple(of: 50) { counts.append(try await run.descriptors()) }
            try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
            try await run.say("suspend", until: "suspended")
            #expect(try await run.hear("scan 1") == "failed cancelled")
            try await run.say("resume", until: "resumed")
        }
        counts.append(try await run.descriptors())
        print("descriptors over 200 nights with a scan in flight: \(counts)")
        #expect(Set(counts).count == 1)
        try run.say("scan 1 alice")
        try run.device.send("SCAN alice-right")
        #expect(try await run.hear("scan 1") == match)
        try await run.finish()
    }
}

@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs umockdev-run, and recordings at \(Recordings.folder)") {
        Recordings.have("synaptics")
    })
struct `The sleep of a machine whose reader could go on scanning` {
    /// Synaptics' driver is one of two that libfprint suspends in the middle of a scan.
    @Test func `ends the scan all the same`() async throws {
        let scratch = try Scratch()
        let recording = scratch.file("recording.pcapng")
        try ChipRecording(.synaptics).write([.open, .enrol, .cancelledWait], to: recording)
        let library = try await preloadLibrary("blank-ids", in: scratch)
        let run = try await ProbeRun(
            recorded: "synaptics",
            wrapper: Recordings.wrapper("synaptics", traffic: recording) + [
                "/usr/bin/env", "LD_PRELOAD=\(library):libumockdev-preload.so.0",
            ])
        try await run.say("open 1", until: "open 1 ok")
        try await run.say("enrol 1 alice alice left-thumb", until: "enrol 1 ok")
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        try await run.say("suspend", until: "suspended")
        // It would go on until the machine wakes.
        #expect(try await run.hear("scan 1") == "failed cancelled")
        try await run.say("resume", until: "resumed")
        try await run.finish()
    }
}

@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs umockdev with its bindings, and recordings at \(Recordings.folder)") {
        PluggableReader.isUsable
    })
struct `A reader that comes or goes while the machine sleeps` {
    @Test func `is told, and can be opened after it`() async throws {
        let scratch = try Scratch()
        let reader = PluggableReader("nb1010", socket: scratch.file("plug"))
        let run = try await ProbeRun(pluggable: reader)
        try await run.say("suspend", until: "suspended")
        try reader.plug()
        try await run.hear("added 1")
        #expect(try await run.say("open 1", until: "open 1") == "failed busy")
        try reader.unplug()
        try await run.hear("removed 1")
        try reader.plug()
        try await run.hear("added 2")
        try await run.say("resume", until: "resumed")
        #expect(try await run.say("open 1", until: "open 1") == "failed removed")
        #expect(try await run.say("open 2", until: "open 2") == "ok")
        try await run.say("close 2", until: "close 2 ok")
        try await run.finish()
    }

    /// libfprint can neither resume nor close one that was unplugged before its work had ended.
    @Test func `in the middle of its work leaves no descriptor`() async throws {
        let scratch = try Scratch()
        let reader = PluggableReader("nb1010", socket: scratch.file("plug"))
        let library = try await preloadLibrary("usb-faults", in: scratch)
        let run = try await ProbeRun(
            pluggable: reader,
            variables: [
                "LD_PRELOAD=\(library):libumockdev-preload.so.0",
                "FAULTY_TRANSFERS=\(scratch.file("transfers"))",
            ])
        var counts: [Int] = []
        for number in 1...4 {
            try reader.plug()
            try await run.hear("added \(number)")
            try await run.say("open \(number)", until: "open \(number) ok")
            if number == 1 {
                try await run.say("enrol 1 alice alice left-thumb", until: "enrol 1 ok")
            }
            _ = try scratch.write("transfers", "silent")
            try await run.say("scan \(number) alice", until: "sensor \(number) fingerNeeded")
            // A driver ends at once while it only thinks about asking the sensor.
            let sign = scratch.file("transfers.waiting")
            while !FileManager.default.fileExists(atPath: sign) {
                try await Task.sleep(for: .milliseconds(10))
            }
            try await run.say("suspend", until: "suspended")
            #expect(!run.seen.contains { $0.hasPrefix("scan \(number)") }, "it ended by itself")
            _ = try scratch.write("transfers", "gone")
            try reader.unplug()
            try await run.hear("removed \(number)")
            try await run.say("resume", until: "resumed")
            #expect(try await run.hear("scan \(number)") == "failed cancelled")
            try await run.say("close \(number)", until: "close \(number) ok")
            for file in [sign, scratch.file("transfers")] {
                try FileManager.default.removeItem(atPath: file)
            }
            counts.append(try await run.descriptors())
        }
        print("descriptors after readers that vanished in their sleep: \(counts)")
        #expect(Set(counts).count == 1)
        try await run.finish()
    }
}

extension ProbeRun {
    func descriptors() async throws -> Int {
        let count = try await say("descriptors", until: "descriptors")
        return try #require(Int(count))
    }
}
