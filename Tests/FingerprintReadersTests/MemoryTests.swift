// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

/// Readers that match in a memory of their own, which other systems write as well.
@Suite(.timeLimit(.minutes(1))) struct `A reader's own memory` {
    private static let bobsLeftover = "FP1-20220101-7-12345678-bob"

    private func opened() async throws -> ProbeRun {
        let run = try await ProbeRun(.storage)
        try await run.say("open 1", until: "open 1 ok")
        return run
    }

    /// Has the reader forget, or know, a print, as another system would.
    private func change(_ run: ProbeRun, _ command: String) async throws {
        try run.storage.send(command)
        // The next piece of work carries it out.
        _ = try await run.say("contents 1", until: "contents 1")
    }

    @Test func `shows which prints it has, and what else`() async throws {
        let run = try await opened()
        #expect(try await run.say("contents 1", until: "contents 1") == "empty")
        try await run.enrolAlice(run.storage)
        #expect(
            try await run.say("contents 1 alice", until: "contents 1")
                == "known alice/right-index-finger")
        try await change(run, "INSERT \(Self.bobsLeftover)")
        // A print that is in no file is one too; this reader's own enrolments do not say whose.
        #expect(
            try await run.say("contents 1 alice", until: "contents 1")
                == "known alice/right-index-finger, leftover bob")
        #expect(
            try await run.say("contents 1", until: "contents 1")
                == "leftover bob, leftover nobody's")
        try await run.finish()
    }

    @Test func `loses a leftover, and nothing else`() async throws {
        let run = try await opened()
        try await run.enrolAlice(run.storage)
        try await change(run, "INSERT \(Self.bobsLeftover)")
        try await run.say("contents 1 alice", until: "contents 1")
        #expect(try await run.say("discard 1", until: "discard 1") == "ok")
        #expect(
            try await run.say("contents 1 alice", until: "contents 1")
                == "known alice/right-index-finger")
        try await run.finish()
    }

    @Test func `knows fingers that no file has`() async throws {
        let run = try await opened()
        try await run.enrolAlice(run.storage)
        try await run.enrol(
            "bob", on: 1, run.storage, user: "bob", finger: "left-thumb", scan: "bob-left")
        try await change(run, "INSERT \(Self.bobsLeftover)")
        for (scan, result) in [
            ("alice-right", "known alice/right-index-finger"), ("bob-left", "leftover nobody's"),
            // When it recognises one, this reader does not say whose it is.
            (Self.bobsLeftover, "leftover nobody's"), ("nobody", "unknown"),
        ] {
            try run.say("recognise 1 alice")
            try run.storage.send("SCAN \(scan)")
            let heard = try await run.hear("recognise 1")
            #expect(heard == result)
        }
        try run.say("recognise 1 alice")
        try run.storage.send("RETRY 1")
        #expect(try await run.hear("recognise 1") == "bad too-short")
        try run.say("recognise 1 alice")
        try run.storage.send("ERROR 5")
        #expect(try await run.hear("recognise 1") == "failed io")
        try await run.finish()
    }

    @Test func `is asked after a miss, and one that has none of the prints has no verdict`()
        async throws
    {
        let run = try await opened()
        try await run.enrolAlice(run.storage)
        try await run.say("close 1", until: "close 1 ok")
        // What was enrolled is known to be there: nothing is listed, and the miss is one.
        try await run.say("open 1", until: "open 1 ok")
        try run.say("scan 1 alice")
        try run.storage.send("SCAN somebody")
        #expect(try await run.hear("scan 1") == "missed")
        // Another system empties the memory; here, because it is known, only a restart shows it.
        try await change(run, "REMOVE alice-right")
        try run.say("scan 1 alice")
        try run.storage.send("SCAN somebody")
        #expect(try await run.hear("scan 1") == "missed")
        try await run.finish()
    }

    @Test func `without the prints of two fingers ends a scan without a verdict`() async throws {
        let run = try await opened()
        try await run.enrolAlice(run.storage)
        try await run.enrol(
            "bob", on: 1, run.storage, user: "bob", finger: "left-thumb", scan: "bob-left")
        for label in ["alice", "bob"] {
            #expect(try await run.say("delete 1 \(label)", until: "delete 1") == "ok")
        }
        for gallery in ["alice", "alice,bob"] {
            try run.say("scan 1 \(gallery)")
            try run.storage.send("SCAN somebody")
            #expect(try await run.hear("scan 1") == "failed notOnReader")
        }
        // One of them is enough for a miss to be one.
        try await run.enrol(
            "bob", on: 1, run.storage, user: "bob", finger: "left-thumb", scan: "bob-left")
        try run.say("scan 1 alice,bob")
        try run.storage.send("SCAN somebody")
        #expect(try await run.hear("scan 1") == "missed")
        try await run.finish()
    }

    @Test func `can be erased`() async throws {
        let run = try await opened()
        try await run.enrolAlice(run.storage)
        try await change(run, "INSERT \(Self.bobsLeftover)")
        try run.say("erase 1")
        try run.storage.send("CONT ")
        #expect(try await run.hear("erase 1") == "ok")
        #expect(try await run.say("contents 1 alice", until: "contents 1") == "empty")
        // Nothing is known to be there any more, and the reader is asked.
        try run.say("scan 1 alice")
        try run.storage.send("SCAN somebody")
        #expect(try await run.hear("scan 1") == "failed notOnReader")
        // Without a word this reader fails to.
        #expect(try await run.say("erase 1", until: "erase 1") == "failed io")
        try await run.finish()
    }

    @Test func `that is said to lack a print is looked into`() async throws {
        let run = try await opened()
        try await run.enrolAlice(run.storage)
        // DATA_NOT_FOUND
        try run.say("scan 1 alice")
        try run.storage.send("ERROR 7")
        #expect(try await run.hear("scan 1") == "failed io")
        #expect(try await run.say("delete 1 alice", until: "delete 1") == "ok")
        try run.say("scan 1 alice")
        try run.storage.send("ERROR 7")
        #expect(try await run.hear("scan 1") == "failed notOnReader")
        try await run.finish()
    }

    @Test func `is none of those that have none`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.device)
        #expect(try await run.say("contents 1 alice", until: "contents 1") == "none")
        #expect(
            try await run.say("recognise 1 alice", until: "recognise 1") == "failed notSupported")
        #expect(try await run.say("erase 1", until: "erase 1") == "failed notSupported")
        try run.say("scan 1 alice")
        try run.device.send("SCAN somebody")
        #expect(try await run.hear("scan 1") == "missed")
        try await run.finish()
    }
}
