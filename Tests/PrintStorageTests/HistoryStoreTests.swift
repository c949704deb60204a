// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthModel
import PrintStorage
import SystemSupport
import TestKit
import Testing

private func account(_ id: UInt32, _ name: String) -> Account {
    guard let id = UserID(id) else { preconditionFailure("not an id: \(id)") }
    return Account(id: id, name: StoreFixture.user(name))
}

private func entry(_ number: UInt64, reason: String = "open the safe") -> HistoryEntry {
    let kinds = HistoryEntry.Kind.allCases
    let evidence = CallerProgram.Evidence.allCases
    return HistoryEntry(
        kinds[Int(number) % kinds.count], at: number, by: .root,
        program: number % 4 == 3
            ? nil
            : CallerProgram(name: "program \(number)", evidence: evidence[Int(number) % 3]),
        reason: reason, policy: UInt32(number % 3), method: number % 2 == 0 ? "biometrics" : "",
        outcome: number % 2 == 0 ? "success" : "AuthenticationFailed", misses: UInt32(number % 5))
}

@Suite struct `A history store` {
    let fixture: StoreFixture
    let store: HistoryStore
    let alice = account(1_000, "alice")
    var directory: String { fixture.scratch + "/state/history" }
    var file: String { directory + "/1000-alice" }

    init() throws {
        fixture = try StoreFixture()
        store = Self.store(fixture)
    }

    private static func store(_ fixture: StoreFixture) -> HistoryStore {
        HistoryStore(
            directory: fixture.scratch + "/state", executor: fixture.executor,
            log: Log(topic: "storage"))
    }

    @Test func `gives back what was added, newest first`() async throws {
        #expect(await store.history(of: alice) == [])
        try await store.add([entry(1)], for: alice)
        try await store.add([entry(4), entry(3), entry(2)], for: alice)
        #expect(await store.history(of: alice) == [entry(4), entry(3), entry(2), entry(1)])
        #expect(await Self.store(fixture).history(of: alice).count == 4)
        #expect(fixture.names(in: directory) == ["1000-alice"])
        #expect(try fixture.mode(directory) == 0o700)
        #expect(try fixture.mode(file) == 0o600)
    }

    @Test func `keeps the newest two hundred, however large`() async throws {
        let huge = String(repeating: "é", count: 10_000)
        for batch in 0..<30 {
            let numbers = (0..<10).map { UInt64(batch * 10 + 9 - $0) }
            try await store.add(numbers.map { entry($0, reason: huge) }, for: alice)
        }
        let kept = await store.history(of: alice)
        #expect(kept.map(\.time) == (100..<300).reversed())
        #expect(kept.allSatisfy { $0.reason.utf8.count == HistoryEntry.longestReason })
        try await store.add((0..<500).map { entry($0) }, for: alice)
        #expect(await store.history(of: alice).map(\.time) == Array(0..<200))
    }

    @Test func `tells apart who has the same id or the same name`() async throws {
        try await store.add([entry(1)], for: alice)
        #expect(await store.history(of: account(1_000, "bob")) == [])
        #expect(await store.history(of: account(1_001, "alice")) == [])
        // Nor by a file in another one's place.
        try fixture.shell("cd state/history; cp 1000-alice 1001-alice; cp 1000-alice 1000-bob")
        #expect(await store.history(of: account(1_000, "bob")) == [])
        #expect(await store.history(of: account(1_001, "alice")) == [])
    }

    @Test(arguments: [
        "truncate -s 0 r", "head -c 3 good > r", "head -c -1 good > r", "printf LAH1 > r",
        "cp good r; printf x >> r", "tr 'L' 'M' < good > r", "printf 'LAH1\\377\\377' > r",
        "mkfifo r", "ln -s /nonexistent r", "ln -s good r", "truncate -s 1G r",
        "cp good r; chmod 660 r", "head -c 300 /dev/zero > r",
    ]) func `takes an odd file for empty, and sets it aside when it writes`(
        command: String
    ) async throws {
        try await store.add([entry(1), entry(2)], for: alice)
        try fixture.shell("cd state/history; mv 1000-alice good; \(command); mv r 1000-alice")
        #expect(await store.history(of: alice) == [])
        #expect(fixture.names(in: directory).contains("1000-alice"), "reading changes nothing")
        try await store.add([entry(3)], for: alice)
        #expect(await store.history(of: alice) == [entry(3)])
        #expect(fixture.names(in: directory) == ["1000-alice", "damaged-1000-alice", "good"])
    }

    @Test func `sets a directory aside too, and says when it cannot`() async throws {
        try fixture.shell("mkdir -p state/history/1000-alice")
        try await store.add([entry(1)], for: alice)
        #expect(await store.history(of: alice) == [entry(1)])
        try fixture.shell("rm state/history/1000-alice; mkdir -p state/history/1000-alice/x")
        try fixture.shell("mkdir -p state/history/damaged-1000-alice/y")
        await #expect(throws: StorageFailure.io(EISDIR)) {
            try await store.add([entry(2)], for: alice)
        }
        try fixture.shell("rm -r state/history; mkdir -m 777 state/history")
        #expect(await store.history(of: alice) == [])
        await #expect(throws: StorageFailure.io(EACCES)) {
            try await store.add([entry(2)], for: alice)
        }
    }

    @Test func `is not misled by any change of a byte or end of the file`() async throws {
        try await store.add((0..<6).map { entry($0) }, for: alice)
        let good = Array(try Data(contentsOf: URL(filePath: file)))
        let original = await store.history(of: alice)
        var generator = SplitMix(seed: 7)
        var read = 0
        for round in 0..<3_000 {
            var bytes = good
            switch round % 3 {
            case 0:
                for _ in 0...Int.random(in: 0...3, using: &generator) {
                    let place = Int.random(in: bytes.indices, using: &generator)
                    bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
                }
            case 1: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator)))
            default:
                let from = Int.random(in: bytes.indices, using: &generator)
                let to = Int.random(in: from..<bytes.count, using: &generator)
                bytes.replaceSubrange(from...to, with: bytes[from...to].reversed())
            }
            try fixture.plant(bytes, at: file, mode: 0o600)
            let entries = await store.history(of: alice)
            #expect(entries.count <= HistoryEntry.limit)
            // Nothing, or entries that hold only what entries may hold.
            for entry in entries where !original.contains(entry) {
                let texts = [entry.reason, entry.callerName, entry.method, entry.outcome]
                #expect(texts.allSatisfy { !$0.unicodeScalars.contains { $0.value < 0x20 } })
            }
            if !entries.isEmpty { read += 1 }
        }
        print("\(read) of 3000 changed files could be read")
    }

    @Test func `is read whole or not at all while it is written`() async throws {
        try await store.add([entry(0)], for: alice)
        let other = try StoreFixture()
        let reader = HistoryStore(
            directory: fixture.scratch + "/state", executor: other.executor,
            log: Log(topic: "storage"))
        async let writes: Void = {
            for number in 1...150 { try await store.add([entry(UInt64(number))], for: alice) }
        }()
        var last = 0
        while last < 151 {
            let count = await reader.history(of: alice).count
            #expect(count >= max(last, 1))
            guard count >= max(last, 1) else { break }
            last = count
        }
        try await writes
    }

    @Test func `logs a damaged file once, without a name`() async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let fixture = try StoreFixture()
            try fixture.plant([1], at: fixture.scratch + "/state/history/1000-alice")
            let store = HistoryStore(
                directory: fixture.scratch + "/state", executor: fixture.executor,
                log: Log(topic: "storage"))
            for _ in 0..<3 { _ = await store.history(of: account(1_000, "alice")) }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.contains("storage:") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("alice") == false)
    }
}
