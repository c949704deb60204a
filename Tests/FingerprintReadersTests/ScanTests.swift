// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Scans` {
    private let match = "matched alice/right-index-finger"

    @Test func `an enrolled finger matches, another misses, and the print can be deleted`()
        async throws
    {
        let run = try await ProbeRun(.storage)
        #expect(
            try await run.hear("added 1") == "virtual_device_storage swipe 5 cold "
                + "verify,identify,storage,storage-list,storage-delete,storage-clear,duplicates-check"
        )
        #expect(try await run.say("open 1", until: "open 1") == "ok")
        try await run.enrolAlice(run.storage)
        #expect(
            run.seen.filter { $0.hasPrefix("stage") } == (1...5).map { "stage 1 \($0)/5 -" })

        try run.say("scan 1 alice")
        try await run.hear("sensor 1 fingerNeeded")
        try run.storage.send("SCAN alice-right")
        #expect(try await run.hear("scan 1") == match)
        #expect(
            run.seen.filter { $0.hasPrefix("sensor") } == [
                "sensor 1 fingerNeeded", "sensor 1 fingerPresent", "sensor 1 fingerNeeded",
                "sensor 1 idle",
            ])

        try run.say("scan 1 alice")
        try run.storage.send("SCAN somebody")
        #expect(try await run.hear("scan 1") == "missed")

        #expect(try run.storage.send("LIST").contains("alice"))
        #expect(try await run.say("delete 1 alice", until: "delete 1") == "ok")
        #expect(try run.storage.send("LIST") == "")
        #expect(try await run.say("delete 1 alice", until: "delete 1") == "failed notOnReader")
        try await run.say("close 1", until: "close 1 ok")
        try await run.finish()
    }

    @Test func `a bad scan is told with its cause and is not a verdict`() async throws {
        let run = try await ProbeRun(.storage)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.storage)
        let causes = ["general", "too-short", "not-centered", "remove-finger"]
        for (code, cause) in causes.enumerated() {
            try run.say("scan 1 alice")
            try run.storage.send("RETRY \(code)")
            #expect(try await run.hear("scan 1") == "bad \(cause)")
        }
        try await run.finish()
    }

    @Test(arguments: VirtualReader.Driver.allCases)
    func `each error of libfprint becomes a failure`(driver: VirtualReader.Driver) async throws {
        let run = try await ProbeRun(driver)
        let socket = driver == .device ? run.device : run.storage
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(socket)
        let failures = [
            0: "io", 1: "notSupported", 2: "io", 3: "io", 4: "busy", 5: "io", 6: "io",
            7: "notOnReader", 8: "storageFull", 9: "duplicate", 256: "removed", 257: "tooHot",
        ]
        for (code, failure) in failures {
            try run.say("scan 1 alice")
            try socket.send("ERROR \(code)")
            // One that does not have the print is not believed: it lists it, or has no memory.
            let expected = failure == "notOnReader" ? "io" : failure
            #expect(try await run.hear("scan 1") == "failed \(expected)")
            try run.say("enrol 1 other bob left-thumb")
            try socket.send("ERROR \(code)")
            #expect(try await run.hear("enrol 1") == "failed \(failure)")
        }
        try await run.finish()
    }

    @Test func `an error after a match does not take the match back`() async throws {
        let run = try await ProbeRun(.device)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.device)
        for command in ["SCAN alice-right", "SLEEP 10", "ERROR 4"] {
            try run.device.send(command)
        }
        #expect(try await run.say("scan 1 alice", until: "scan 1") == match)
        try await run.finish()
    }

    @Test func `another user's finger misses on a reader that knows it`() async throws {
        let run = try await ProbeRun(.storage)
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.storage)
        try await run.enrol(
            "bob", on: 1, run.storage, user: "bob", finger: "left-thumb", scan: "bob-left")
        try run.say("scan 1 alice")
        try run.storage.send("SCAN bob-left")
        #expect(try await run.hear("scan 1") == "missed")
        try run.say("scan 1 alice,bob")
        try run.storage.send("SCAN bob-left")
        #expect(try await run.hear("scan 1") == "matched bob/left-thumb")
        try await run.finish()
    }

    @Test func `a reader that can only verify compares with the first print`() async throws {
        let run = try await ProbeRun(.device)
        #expect(try await run.hear("added 1") == "virtual_device swipe 5 cold verify")
        try await run.say("open 1", until: "open 1 ok")
        try await run.enrolAlice(run.device)
        try await run.enrol(
            "bob", on: 1, run.device, user: "bob", finger: "left-thumb", scan: "bob-left")
        for (gallery, result) in [
            ("alice,bob", "missed"), ("bob,alice", "matched bob/left-thumb"),
        ] {
            try run.say("scan 1 \(gallery)")
            try run.device.send("SCAN bob-left")
            #expect(try await run.hear("scan 1") == result)
        }
        // It has no memory, so there is nothing to do.
        #expect(try await run.say("delete 1 alice", until: "delete 1") == "ok")
        try await run.finish()
    }

    @Test func `prints of another reader are of no use`() async throws {
        let run = try await ProbeRun(.device, .storage)
        for reader in 1...2 { try await run.say("open \(reader)", until: "open \(reader) ok") }
        let (device, storage) = run.order
        try await run.enrolAlice(on: device, run.device)
        for gallery in ["alice", ""] {
            let result = try await run.say("scan \(storage) \(gallery)", until: "scan \(storage)")
            #expect(result == "failed noUsablePrints")
        }
        let deletion = try await run.say("delete \(storage) alice", until: "delete \(storage)")
        #expect(deletion == "failed noUsablePrints")
        try await run.finish()
    }

    @Test func `two readers scan at the same time`() async throws {
        let run = try await ProbeRun(.device, .storage)
        for reader in 1...2 { try await run.say("open \(reader)", until: "open \(reader) ok") }
        let (device, storage) = run.order
        try await run.enrolAlice(on: device, run.device)
        try await run.enrol(
            "bob", on: storage, run.storage, user: "bob", finger: "left-thumb", scan: "bob-left")
        for _ in 0..<20 {
            try run.say("scan \(device) alice")
            try run.say("scan \(storage) bob")
            try await run.hear("sensor \(device) fingerNeeded")
            try await run.hear("sensor \(storage) fingerNeeded")
            try run.storage.send("SCAN bob-left")
            try run.device.send("SCAN alice-right")
            #expect(try await run.hear("scan \(device)") == match)
            #expect(try await run.hear("scan \(storage)") == "matched bob/left-thumb")
        }
        try await run.finish()
    }
}

extension ProbeRun {
    /// The numbers of the verifying and of the storing reader.
    var order: (device: Int, storage: Int) {
        seen.contains { $0.hasPrefix("added 1 virtual_device ") } ? (1, 2) : (2, 1)
    }
}
