// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Holding a reader` {
    @Test func `without a reader nothing is told`() async throws {
        let run = try await ProbeRun()
        #expect(run.seen == ["started"])
        #expect(try await run.say("open 1", until: "open 1") == "failed removed")
        // The one that looked for readers may still be ending.
        while try await run.say("threads", until: "threads") != "1" {}
        try await run.finish()
    }

    @Test func `it has one holder at a time`() async throws {
        let run = try await ProbeRun(.device)
        for _ in 0..<2 { try run.say("open 1") }
        let answers = [try await run.hear("open 1"), try await run.hear("open 1")]
        #expect(Set(answers) == ["ok", "failed busy"])
        #expect(try await run.say("open 1", until: "open 1") == "failed busy")
        for _ in 0..<2 { try run.say("close 1") }
        for _ in 0..<2 { try await run.hear("close 1 ok") }
        #expect(try await run.say("open 1", until: "open 1") == "ok")
        try await run.finish()
    }

    @Test func `closing ends the work at hand`() async throws {
        let run = try await ProbeRun(.storage)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.storage)
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        try await run.say("close 1", until: "close 1 ok")
        #expect(try await run.hear("scan 1") == "failed cancelled")
        // The old lease is of no use any more.
        #expect(try await run.say("scan 1 alice", until: "scan 1") == "failed removed")
        try await run.finish()
    }

    @Test func `a lease that is dropped gives the reader back`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try await run.say("drop 1", until: "drop 1 ok")
        while try await run.say("open 1", until: "open 1") == "failed busy" {}
        #expect(run.seen.last == "open 1 ok")
        try await run.finish()
    }

    @Test func `after an open that failed it can be opened`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try run.device.send("SET_KEEP_ALIVE 1")
        try await run.say("close 1", until: "close 1 ok")
        try run.device.send("ERROR 5")
        #expect(try await run.say("open 1", until: "open 1") == "failed io")
        #expect(try await run.say("open 1", until: "open 1") == "ok")
        try await run.finish()
    }

    @Test func `changes are told`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try run.device.send("SET_ENROLL_STAGES 3")
        #expect(try await run.hear("changed 1") == "virtual_device swipe 3 cold verify")
        try run.device.send("SET_SCAN_TYPE press")
        #expect(try await run.hear("changed 1") == "virtual_device press 3 cold verify")
        try await run.finish()
    }

    @Test func `unplugging during a scan is told once, and the reader can be let go`() async throws
    {
        let run = try await ProbeRun(.storage)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.storage)
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        try run.storage.send("UNPLUG")
        try await run.hear("removed 1")
        #expect(try await run.hear("scan 1") == "failed removed")
        #expect(try await run.say("scan 1 alice", until: "scan 1") == "failed removed")
        try await run.say("close 1", until: "close 1 ok")
        #expect(try await run.say("open 1", until: "open 1") == "failed removed")
        try await run.say("stop", until: "stopped")
        #expect(run.seen.count { $0.hasPrefix("removed") } == 1)
        try await run.finish()
    }

    @Test func `unplugging a reader that does nothing is told once`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try run.device.send("UNPLUG")
        try await run.hear("removed 1")
        try await run.say("close 1", until: "close 1 ok")
        try await run.say("stop", until: "stopped")
        #expect(run.seen.count { $0.hasPrefix("removed") } == 1)
        try await run.finish()
    }

    @Test func `stopping ends all work and the thread, and starting again works`() async throws {
        let run = try await ProbeRun(.device, .storage)
        for reader in 1...2 { try await run.say("open \(reader)", until: "open \(reader) ok") }
        let (device, _) = run.order
        try await run.enrolAlice(on: device, run.device)
        try await run.say("scan \(device) alice", until: "sensor \(device) fingerNeeded")
        try await run.say("stop", until: "stopped")
        #expect(try await run.hear("scan \(device)") == "failed cancelled")
        while try await run.say("threads", until: "threads") != "0" {}
        // Late calls find an answer.
        #expect(try await run.say("scan 1 alice", until: "scan 1") == "failed removed")
        try await run.say("close 1", until: "close 1 ok")
        try await run.say("start", until: "started")
        #expect(try await run.say("open 3", until: "open 3") == "ok")
        try await run.finish()
    }

    @Test func `stopping does not wait for ever for a driver that ignores it`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.device)
        try run.device.send("SET_CANCELLATION_ENABLED 0")
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        let time = try await ContinuousClock().measure {
            try await run.say("stop", until: "stopped")
        }
        #expect(time < .seconds(10))
        try await run.finish()
    }
}
