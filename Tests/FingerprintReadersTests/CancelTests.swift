// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Cancelling` {
    private let match = "matched alice/right-index-finger"

    @Test func `a cancelled scan ends as cancelled, and the next one matches`() async throws {
        let run = try await ProbeRun(.storage)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.storage)
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        #expect(try await run.say("cancel 1", until: "scan 1") == "failed cancelled")
        try run.say("scan 1 alice")
        try run.storage.send("SCAN alice-right")
        #expect(try await run.hear("scan 1") == match)
        try await run.finish()
    }

    @Test func `a driver that ignores it is waited for`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.device)
        try run.device.send("SET_CANCELLATION_ENABLED 0")
        try await run.say("scan 1 alice", until: "sensor 1 fingerNeeded")
        try run.say("cancel 1")
        // The reader queue is served in order: when this is refused, the cancel has been there.
        #expect(try await run.say("scan 1 alice", until: "scan 1") == "failed busy")
        try run.device.send("SCAN alice-right")
        #expect(try await run.hear("scan 1") == "failed cancelled")
        try await run.finish()
    }

    @Test func `a match that comes after it is not told`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.device)
        // Reports the match at once and then takes its time.
        for command in ["SCAN alice-right", "SLEEP 5000"] { try run.device.send(command) }
        try await run.say("scan 1 alice", until: "sensor 1 fingerPresent")
        #expect(try await run.say("cancel 1", until: "scan 1") == "failed cancelled")
        try await run.finish()
    }

    @Test func `a miss that came before it stays a miss`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.device)
        for command in ["SCAN somebody", "SLEEP 5000"] { try run.device.send(command) }
        try await run.say("scan 1 alice", until: "sensor 1 fingerPresent")
        #expect(try await run.say("cancel 1", until: "scan 1") == "missed")
        try await run.finish()
    }

    @Test func `a cancelled enrolment ends as cancelled, and the next one succeeds`() async throws {
        let run = try await ProbeRun(.storage)
        try await run.say("open 1", until: "open 1 ok")
        try run.say("enrol 1 alice alice right-index-finger")
        for command in ["SCAN alice-right", "RETRY 1"] { try run.storage.send(command) }
        try await run.hear("stage 1 1/5 -")
        try await run.hear("stage 1 1/5 too-short")
        #expect(try await run.say("cancel 1", until: "enrol 1") == "failed cancelled")
        #expect(try run.storage.send("LIST") == "")
        try await run.enrolAlice(run.storage)
        #expect(try run.storage.send("LIST").contains("alice"))
        try await run.finish()
    }

    @Test func `thousands of cancels at the moment of the match crash nothing`() async throws {
        let run = try await ProbeRun(.device, criticalsAreFatal: false)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.device)
        let ends = try await run.say("race 1 alice 2000 \(run.device.path)", until: "race 1")
        let counts = ends.split(separator: " ").map { $0.split(separator: "=") }
        #expect(counts.allSatisfy { ["matched", "cancelled"].contains($0[0]) }, "\(ends)")
        #expect(counts.compactMap { Int($0[1]) }.reduce(0, +) == 2000, "\(ends)")
        try await run.finish()
        // The virtual reader's driver takes a command that comes in the same turn of the loop as a
        // cancel for one to the scan that it has just ended, and ends that again. libfprint says so,
        // and then has nobody to tell. Nothing else may be said.
        let others = run.criticals.filter { !$0.hasSuffix("assertion 'G_IS_TASK (task)' failed") }
        #expect(others == [])
    }
}
