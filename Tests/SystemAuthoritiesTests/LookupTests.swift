// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import Testing

@testable import SystemAuthorities

/// Blocks those who ask about some keys until it is opened, as a directory server that hangs.
private final class Directory: Sendable {
    let asked = Journal<String>()
    private let door = NSCondition()
    private nonisolated(unsafe) var isOpen = false

    func query(_ key: String) -> String? {
        BusQueue.post { self.asked.add(key) }
        guard key.hasPrefix("slow") else { return key == "nobody" ? nil : "found \(key)" }
        door.withLock {
            while unsafe !isOpen { door.wait() }
        }
        return "found \(key)"
    }

    func open() {
        door.withLock { unsafe isOpen = true }
        door.broadcast()
    }
}

@Suite(.timeLimit(.minutes(1))) struct `Look-ups` {
    @BusQueue private final class Scene {
        let threads: LookupThreads
        let directory = Directory()
        let lookup: SharedLookup<String, String>

        init(limit: Int, deadline: Duration, rest: Duration) {
            threads = LookupThreads(limit: limit, rest: rest)
            lookup = SharedLookup(on: threads, deadline: deadline) { [directory] in
                directory.query($0)
            }
        }

        func ask(_ key: String) async -> String? { await lookup.ask(key) }

        func asking(_ key: String) -> Task<String?, Never> {
            BusQueue.task { await self.lookup.ask(key) }
        }
    }

    private static func with(
        limit: Int = 16, deadline: Duration = .seconds(30), rest: Duration = .seconds(30),
        _ body: @escaping @Sendable @BusQueue (Scene) async throws -> Void
    ) async throws {
        startBusQueue()
        let scene = await Scene(limit: limit, deadline: deadline, rest: rest)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(scene))
        } catch {
            result = .failure(error)
        }
        scene.directory.open()
        try result.get()
    }

    @Test func `give what was found, and nothing where nothing was`() async throws {
        try await Self.with { scene in
            #expect(await scene.ask("alice") == "found alice")
            #expect(await scene.ask("nobody") == nil)
            #expect(await scene.ask("alice") == "found alice")
            #expect(scene.threads.count == 1)
        }
    }

    @Test func `of the same are one, however many ask`() async throws {
        try await Self.with { scene in
            let tasks = (0..<100).map { _ in scene.asking("slow") }
            await scene.directory.asked.reaches(1)
            scene.directory.open()
            for task in tasks { #expect(await task.value == "found slow") }
            #expect(scene.directory.asked.entries == ["slow"])
            // Nothing is remembered.
            #expect(await scene.ask("slow") == "found slow")
            await scene.directory.asked.reaches(2)
        }
    }

    @Test func `run side by side`() async throws {
        try await Self.with { scene in
            let stuck = (0..<15).map { scene.asking("slow \($0)") }
            await scene.directory.asked.reaches(15)
            #expect(await scene.ask("alice") == "found alice")
            #expect(scene.threads.count == 16)
            scene.directory.open()
            for (number, task) in stuck.enumerated() {
                #expect(await task.value == "found slow \(number)")
            }
        }
    }

    @Test func `are given up in time, and go on`() async throws {
        try await Self.with(deadline: .milliseconds(100)) { scene in
            #expect(await scene.ask("slow") == nil)
            // The same again does not take another thread.
            #expect(await scene.ask("slow") == nil)
            #expect(scene.threads.count == 1)
            #expect(scene.directory.asked.entries == ["slow"])
            #expect(await scene.ask("alice") == "found alice")
            scene.directory.open()
            #expect(await scene.ask("bob") == "found bob")
        }
    }

    @Test func `fail in time when every thread is stuck, and are not asked later`() async throws {
        try await Self.with(limit: 2, deadline: .milliseconds(200)) { scene in
            let stuck = [scene.asking("slow 1"), scene.asking("slow 2")]
            await scene.directory.asked.reaches(2)
            let begun = ContinuousClock.now
            #expect(await scene.ask("alice") == nil)
            #expect(.now - begun < .seconds(4))
            for task in stuck { #expect(await task.value == nil) }
            #expect(scene.threads.count == 2)
            scene.directory.open()
            #expect(await scene.ask("bob") == "found bob")
            #expect(!scene.directory.asked.entries.contains("alice"))
        }
    }

    @Test func `that wait for a thread are answered when there is one`() async throws {
        try await Self.with(limit: 1) { scene in
            let first = scene.asking("slow 1")
            await scene.directory.asked.reaches(1)
            let second = scene.asking("alice")
            scene.directory.open()
            #expect(await first.value == "found slow 1")
            #expect(await second.value == "found alice")
            #expect(scene.threads.count == 1)
        }
    }

    @Test func `leave one thread, and no descriptor, behind`() async {
        // In a process of its own, where nobody else has threads and files.
        await #expect(processExitsWith: .success) {
            try await Self.with(rest: .milliseconds(20)) { scene in
                #expect(await scene.ask("alice") == "found alice")
                let before = try Self.figures()
                for round in 0..<5 {
                    let tasks = (0..<8).map { scene.asking("slow \(round) \($0)") }
                    if round == 0 {
                        await scene.directory.asked.reaches(9)
                        #expect(scene.threads.count == 8)
                        scene.directory.open()
                    }
                    for task in tasks { #expect(await task.value != nil) }
                }
                // Something of the start may have been open still.
                while try zip(Self.figures(), before).contains(where: >) {
                    await BusQueue.sleep(.milliseconds(10))
                }
                #expect(scene.threads.count == 1)
                #expect(await scene.ask("alice") == "found alice")
            }
        }
    }

    /// The threads called `lookup`, and the open descriptors.
    private static func figures() throws -> [Int] {
        let files = FileManager.default
        let names = try files.contentsOfDirectory(atPath: "/proc/self/task").compactMap {
            try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
        }
        return [
            names.count { $0 == "lookup\n" },
            try files.contentsOfDirectory(atPath: "/proc/self/fd").count,
        ]
    }

    @Test func `of accounts find those that there are`() async throws {
        startBusQueue()
        let accounts = SystemAccounts(threads: LookupThreads())
        let root = await accounts.account(id: .root)
        #expect(root?.name.rawValue == "root")
        #expect(await accounts.account(name: try #require(UserName("root"))) == root)
        for id in [54_321, 4_000_000_000] as [UInt32] {
            #expect(await accounts.account(id: try #require(UserID(id))) == nil)
        }
        #expect(await accounts.account(name: try #require(UserName("no-such-user"))) == nil)
    }
}
