// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import SystemSupport
import Testing

@testable import SystemAuthorities

/// A shadow database that answers when a test lets it.
private final class Database: Sendable {
    private struct State {
        var reading = ShadowDatabase.Reading.entry(isSet: true, expiry: nil)
        var isOpen = true
    }
    let asked = Journal<String>()
    private let door = NSCondition()
    private nonisolated(unsafe) var state = State()

    func find(_ name: UserName) -> ShadowDatabase.Reading {
        // What is found is what was there when it was looked for.
        let found = door.withLock { unsafe state.reading }
        BusQueue.post { self.asked.add(name.rawValue) }
        door.withLock {
            while unsafe !state.isOpen { door.wait() }
        }
        return found
    }

    func change(to reading: ShadowDatabase.Reading) {
        door.withLock { unsafe state.reading = reading }
    }

    func hold(_ isHeld: Bool) {
        door.withLock { unsafe state.isOpen = !isHeld }
        door.broadcast()
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The shadow database` {
    @BusQueue private final class Scene {
        let scratch: Scratch
        let database = Database()
        let shadow: ShadowDatabase
        let alice: Account

        init(directory: String? = nil, deadline: Duration = .seconds(30)) throws {
            scratch = try Scratch()
            alice = Account(id: try #require(UserID(1)), name: try #require(UserName("alice")))
            shadow = ShadowDatabase(
                threads: LookupThreads(), directory: directory ?? scratch.path,
                deadline: deadline, log: Log(topic: "test", threshold: .error)
            ) { [database] in database.find($0) }
        }

        func standing() async -> PasswordStanding { await shadow.standing(of: alice) }

        /// Writes the file, and waits until that has been heard of.
        func change() async throws {
            let before = shadow.change
            _ = try scratch.write("shadow", "changed")
            while shadow.change == before { await BusQueue.sleep(.milliseconds(1)) }
        }
    }

    private static func with(
        directory: String? = nil, deadline: Duration = .seconds(30),
        _ body: @escaping @Sendable @BusQueue (Scene) async throws -> Void
    ) async throws {
        startBusQueue()
        let scene = try await Scene(directory: directory, deadline: deadline)
        try await BusQueue.task { () -> Result<Void, any Error> in
            do { return .success(try await body(scene)) } catch { return .failure(error) }
        }.value.get()
    }

    private static let unset = PasswordStanding(isSet: false, hasAccountExpired: false)
    private static let set = PasswordStanding(isSet: true, hasAccountExpired: false)

    @Test func `is asked once, and again after each change`() async throws {
        try await Self.with { scene in
            for _ in 0..<3 { #expect(await scene.standing() == Self.set) }
            #expect(scene.database.asked.entries == ["alice"])
            scene.database.change(to: .entry(isSet: false, expiry: nil))
            try await scene.change()
            #expect(await scene.standing() == Self.unset)
            #expect(scene.database.asked.entries.count == 2)
        }
    }

    @Test func `gives no answer from before a change to a question from after it`() async throws {
        try await Self.with { scene in
            // Begins to listen.
            _ = await scene.standing()
            try await scene.change()
            scene.database.hold(true)
            let early = BusQueue.task { await scene.standing() }
            await scene.database.asked.reaches(2)
            scene.database.change(to: .entry(isSet: false, expiry: nil))
            try await scene.change()
            let late = BusQueue.task { await scene.standing() }
            await scene.database.asked.reaches(3)
            scene.database.hold(false)
            #expect(await early.value == Self.set)
            #expect(await late.value == Self.unset)
            #expect(await scene.standing() == Self.unset)
            #expect(scene.database.asked.entries.count == 3)
        }
    }

    @Test func `that cannot be read, or takes too long, says nothing against a password`()
        async throws
    {
        try await Self.with(deadline: .milliseconds(50)) { scene in
            scene.database.change(to: .failed)
            #expect(await scene.standing() == Self.set)
            scene.database.change(to: .entry(isSet: false, expiry: nil))
            // Not kept.
            #expect(await scene.standing() == Self.unset)
            try await scene.change()
            scene.database.hold(true)
            #expect(await scene.standing() == Self.set)
            scene.database.hold(false)
        }
    }

    @Test func `that cannot be watched is asked every time`() async throws {
        try await Self.with(directory: "/nonexistent") { scene in
            _ = await scene.standing()
            scene.database.change(to: .entry(isSet: false, expiry: nil))
            #expect(await scene.standing() == Self.unset)
        }
    }

    @Test func `counts an expiry from its day on`() {
        func isExpired(_ expiry: Int?, today: Int) -> Bool {
            PasswordStanding(.entry(isSet: true, expiry: expiry), today: today).hasAccountExpired
        }
        #expect(!isExpired(nil, today: 20_000))
        #expect(isExpired(0, today: 20_000))
        #expect(isExpired(20_000, today: 20_000))
        #expect(!isExpired(20_001, today: 20_000))
        let unknown = PasswordStanding(.unknown, today: 20_000)
        #expect(unknown == Self.set)
    }

    @Test(arguments: [
        ("$6$salt$hash", true), ("$y$x", true), ("abJnggxhB/yWI", true), ("", false), ("!", false),
        ("*", false), ("!$6$salt$hash", false), ("*LK*", false),
    ])
    func `knows what belongs to a password`(field: String, isSet: Bool) {
        #expect(ShadowDatabase.isSet(firstByte: field.utf8CString.first) == isSet)
        #expect(!ShadowDatabase.isSet(firstByte: nil))
    }
}
