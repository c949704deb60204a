// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// Where a caller sits, as logind says it and nothing else does.
@Suite(.timeLimit(.minutes(1))) struct `Sessions` {
    typealias Session = FakeLogind.Session

    /// The service with a finger of root's, a logind and a client that acts for root.
    private struct Scene {
        let logind: FakeLogind
        let service: TestService
        let client: TestClient

        init(wrapper: [String] = []) async throws {
            let bus = try await PrivateBus()
            logind = try await FakeLogind(bus)
            service = try await TestService(
                .storage,
                configuration: """
                    [Authorization]
                    Authority=local
                    """, bus: bus, wrapper: wrapper)
            client = try await TestClient(bus)
            // Root may enrol from anywhere.
            try await enrol("left-thumb", with: service.hand(on: .storage), by: client)
            // From now on the socket shows whether the reader was opened.
            try FileManager.default.removeItem(atPath: service.storage.path)
        }

        var wasReaderOpened: Bool { FileManager.default.fileExists(atPath: service.storage.path) }

        func acceptFinger() async throws {
            let accepted = Task { [client] in try await client.evaluate() }
            await client.fingerIsNeeded()
            try await service.hand(on: .storage).touch(number: 1)
            #expect(try await accepted.value["method"] == .string("biometrics"))
        }

        func refuse(_ comment: Comment) async throws {
            let asked = ContinuousClock.now
            #expect(try await client.can().code == -1004, comment)
            let refused = Task { [client] in try await client.evaluate() }
            #expect(await error(of: refused) == .notInteractive, comment)
            #expect(.now - asked < .seconds(3), comment)
            #expect(!wasReaderOpened, comment)
        }
    }

    @Test func `that are local, active and unlocked can ask for a finger`() async throws {
        let scene = try await Scene()
        await scene.logind.add("c1")
        await scene.logind.place(getpid(), in: "c1")
        #expect(try await scene.client.can().canEvaluate)
        try await scene.acceptFinger()
    }

    @Test(arguments: [
        Session(isActive: false), Session(isRemote: true), Session(isLocked: true),
        Session(seat: ""), Session(kind: "greeter"), Session(state: "closing"),
    ])
    func `that are remote, inactive, locked or nobody's never light up the reader`(
        session: Session
    ) async throws {
        let scene = try await Scene()
        await scene.logind.add("c1", session)
        await scene.logind.place(getpid(), in: "c1")
        // The desktop of the same user says nothing about a caller that is in a session.
        await scene.logind.add("c2")
        await scene.logind.setDisplay(of: 0, to: "c2")
        try await scene.refuse("\(session)")
        await scene.logind.change("c1", to: Session())
        #expect(try await scene.client.can().canEvaluate)
        try await scene.acceptFinger()
    }

    @Test func `lend their seat to their user's services`() async throws {
        let scene = try await Scene()
        try await scene.refuse("neither a session nor a login")
        await scene.logind.add("c1")
        await scene.logind.setDisplay(of: 0, to: "c1")
        #expect(try await scene.client.can().canEvaluate)
        try await scene.acceptFinger()
        try FileManager.default.removeItem(atPath: scene.service.storage.path)
        await scene.logind.change("c1", to: Session(isLocked: true))
        try await scene.refuse("the desktop is locked")
        await scene.logind.change("c1", to: Session())
        #expect(try await scene.client.can().canEvaluate)
        await scene.logind.remove("c1")
        try await scene.refuse("the desktop is gone")
    }

    @Test(arguments: [
        Session(isActive: false), Session(isRemote: true), Session(isLocked: true), nil,
    ])
    func `that end or are left take the scan with them`(later: Session?) async throws {
        let scene = try await Scene()
        await scene.logind.add("c1")
        await scene.logind.place(getpid(), in: "c1")
        let client = scene.client
        let evaluation = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        if let later {
            await scene.logind.change("c1", to: later)
        } else {
            await scene.logind.remove("c1")
        }
        #expect(await error(of: evaluation) == .systemCancel)
    }

    @Test func `are asked about once, until something changes`() async throws {
        let scene = try await Scene()
        await scene.logind.add("c1")
        await scene.logind.place(getpid(), in: "c1")
        for _ in 0..<3 { _ = try await scene.client.can() }
        let question = "GetSessionByPID \(getpid())"
        #expect(await scene.logind.questions.all.count { $0 == question } == 1)
        await scene.logind.add("c2")
        _ = try await scene.client.can()
        #expect(await scene.logind.questions.all.count { $0 == question } == 2)
    }

    @Test func `of somebody else are no desktop of one's own`() async throws {
        let scene = try await Scene()
        await scene.logind.add("c1")
        await scene.logind.setDisplay(of: OtherUser.nobody, to: "c1")
        let other = OtherUser(on: scene.service.bus)
        #expect(try await other.canEvaluate().hasPrefix("(false, -1004, "))
        #expect(try await other.evaluate().contains("Error.NotInteractive"))
        await scene.logind.add("c2", Session(user: OtherUser.nobody))
        await scene.logind.setDisplay(of: OtherUser.nobody, to: "c2")
        // Present, and without a finger.
        #expect(try await other.canEvaluate().hasPrefix("(false, -7, "))
        #expect(!scene.wasReaderOpened)
    }

    @Test func `that nobody can tell about are no sessions`() async throws {
        let scene = try await Scene()
        await scene.logind.add("c1")
        await scene.logind.place(getpid(), in: "c1")
        #expect(try await scene.client.can().canEvaluate)
        await scene.logind.close()
        // Its last words are that it is gone.
        await scene.client.next { $0 == .environmentChanged }
        try await scene.refuse("without logind")
    }

    @Test func `of users without an account get no reader`() async throws {
        let accounts = try Scratch()
        // The bus itself lets nobody in whom it does not know, so only the daemon does not.
        let passwd = try accounts.write("passwd", "root:x:0:0:root:/root:/bin/sh\n")
        let scene = try await Scene(wrapper: [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
            #"mount --bind "$0" /etc/passwd && exec "$@""#, passwd,
        ])
        await scene.logind.add("c1", Session(user: 1))
        // Not `nobody`, whom systemd's name service makes up where there is none.
        await scene.logind.setDisplay(of: 1, to: "c1")
        let stranger = OtherUser(1, on: scene.service.bus)
        let answer = try await stranger.canEvaluate()
        #expect(answer.hasPrefix("(false, -6, "), "\(answer)")
        let refusal = try await stranger.evaluate()
        #expect(
            refusal.contains("org.example.LocalAuth.Error.BiometryNotAvailable"), "\(refusal)")
        #expect(!scene.wasReaderOpened)
    }

    @Test(arguments: [54_321, 4_000_000_000] as [UInt32])
    func `of nobody's are never root's`(user: UInt32) async throws {
        let scene = try await Scene()
        for user in [0, user] {
            await scene.logind.add("c\(user)", Session(user: user))
            await scene.logind.setDisplay(of: user, to: "c\(user)")
        }
        let stranger = OtherUser(user, on: scene.service.bus)
        for answer in [try await stranger.canEvaluate(), try await stranger.evaluate()] {
            // dbus-daemon turns such users away; another bus may leave that to us.
            let isTurnedAway = answer.contains("The connection is closed")
            let isRefused = answer.contains("-6") || answer.contains("BiometryNotAvailable")
            #expect(isTurnedAway || isRefused, "\(answer)")
        }
        #expect(!scene.wasReaderOpened)
        #expect(scene.service.daemon.isRunning)
        #expect(try await scene.client.can().canEvaluate)
    }
}
