// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthModel
import SystemAuthorities
import SystemSupport
import Testing

/// Where callers sit, by what is known of their process.
@Suite(.timeLimit(.minutes(1))) struct `Where a caller sits` {
    typealias Session = FakeLogind.Session
    private static let alice: UInt32 = 1000
    private static let bob: UInt32 = 1001

    @BusQueue private final class Scene {
        let bus: PrivateBus
        let logind: FakeLogind
        let connection: BusConnection
        let peer: BusConnection
        let sessions: LogindSessions
        let gone = Journal<UniqueName>()
        let changes = Journal<Void>()

        init(_ bus: PrivateBus) async throws {
            self.bus = bus
            logind = try await FakeLogind(bus)
            connection = try BusConnection(address: bus.address)
            peer = try BusConnection(address: bus.address)
            sessions = LogindSessions(
                on: connection, log: Log(topic: "sessions", threshold: .error))
            connection.watchPeers { [gone] in gone.add($0) }
            await sessions.start { [changes] in BusQueue.post { changes.add() } }
            logind.add("alice", Session(user: alice))
            logind.add("bob", Session(user: bob))
            await changes.reaches(2)
        }

        func caller(
            _ user: UInt32 = alice, _ id: UInt32? = 71, _ handle: (any ProcessHandle)? = nil
        ) -> Caller {
            SystemAuthoritiesTests.caller(
                peer.uniqueName, user: user,
                process: id.map { CallerProcess(id: $0, handle: handle) })
        }

        func presence(_ caller: Caller) async -> Presence {
            await sessions.seating(of: caller).presence
        }

        var questions: Int { logind.questions.all.count }
    }

    private static func with(
        _ body: @escaping @Sendable @BusQueue (Scene) async throws -> Void
    ) async throws {
        let scene = try await Scene(try await PrivateBus())
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(scene))
        } catch {
            result = .failure(error)
        }
        await scene.connection.close()
        await scene.logind.close()
        try result.get()
    }

    @Test func `is that of the process's session, which is the caller's own or root's`()
        async throws
    {
        try await Self.with { scene in
            scene.logind.place(71, in: "alice")
            let process = FakeProcess()
            #expect(await scene.presence(scene.caller(Self.alice, 71, process)) == .present)
        }
        try await Self.with { scene in
            scene.logind.place(71, in: "alice")
            #expect(await scene.presence(scene.caller(0)) == .present)
        }
        try await Self.with { scene in
            scene.logind.place(71, in: "alice")
            // Bob's desktop does not help him in alice's session.
            scene.logind.setDisplay(of: Self.bob, to: "bob")
            #expect(await scene.presence(scene.caller(Self.bob)) == .absent)
        }
    }

    @Test(arguments: [nil, 71] as [UInt32?])
    func `outside of sessions is that of the user's own desktop`(id: UInt32?) async throws {
        try await Self.with { scene in
            scene.logind.setDisplay(of: Self.alice, to: "alice")
            #expect(await scene.presence(scene.caller(Self.alice, id)) == .present)
        }
        for user in [Self.bob, 0] {
            try await Self.with { scene in
                scene.logind.setDisplay(of: user, to: "alice")
                #expect(await scene.presence(scene.caller(user, id)) == .absent)
            }
        }
    }

    @Test func `ends with the process, for whoever has its connection then`() async throws {
        try await Self.with { scene in
            scene.logind.place(71, in: "alice")
            scene.logind.setDisplay(of: Self.alice, to: "alice")
            let process = FakeProcess()
            let caller = scene.caller(Self.alice, 71, process)
            #expect(await scene.presence(caller) == .present)
            let asked = scene.questions
            #expect(await scene.presence(caller) == .present)
            #expect(scene.questions == asked)
            process.end()
            #expect(await scene.presence(caller) == .absent)
            #expect(scene.questions == asked)
        }
    }

    @Test func `is nobody's whose process ended while it was looked for`() async throws {
        try await Self.with { scene in
            scene.logind.place(71, in: "alice")
            scene.logind.setDisplay(of: Self.alice, to: "alice")
            // Alive when the look-up begins, and not when it is over.
            let process = FakeProcess(looks: 1)
            #expect(await scene.presence(scene.caller(Self.alice, 71, process)) == .absent)
            #expect(scene.logind.questions.all.contains("GetSessionByPID 71"))
        }
    }

    @Test func `without a hold on the process is that of who is still on the bus`() async throws {
        try await Self.with { scene in
            scene.logind.place(71, in: "alice")
            let caller = scene.caller()
            #expect(await scene.presence(caller) == .present)
            scene.peer.close()
            await scene.gone.reaches(1)
            for _ in 0..<2 {
                let asked = scene.questions
                #expect(await scene.presence(caller) == .absent)
                // Nothing is kept of one who has gone.
                #expect(scene.questions == asked + 1)
            }
        }
    }

    @Test func `is not kept of one who leaves meanwhile`() async throws {
        try await Self.with { scene in
            scene.logind.place(71, in: "alice")
            let caller = scene.caller(Self.alice, 71, FakeProcess())
            async let first = scene.presence(caller)
            await scene.logind.questions.next()
            scene.peer.close()
            _ = await first
            await scene.gone.reaches(1)
            let asked = scene.questions
            _ = await scene.presence(caller)
            #expect(scene.questions > asked)
        }
    }

    @Test func `is unknown without logind`() async throws {
        try await Self.with { scene in
            scene.logind.place(71, in: "alice")
            scene.logind.close()
            #expect(await scene.presence(scene.caller()) == .unknown)
        }
    }
}
