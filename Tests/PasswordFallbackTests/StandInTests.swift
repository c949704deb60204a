// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import PasswordFallback
import SystemSupport
import Testing

/// Programs that stand in for the one that checks passwords, and do not do as it does.
@Suite(.timeLimit(.minutes(2))) struct `A program that checks passwords` {
    /// A scene with a stand-in: Python, with the daemon's messages at `s`.
    private static func scene(
        _ script: String, patience: Duration = .seconds(60), pause: Duration = .seconds(3)
    ) throws -> PasswordScene {
        let scratch = try Scratch()
        let program = try scratch.write(
            "program",
            """
            #!/usr/bin/python3
            os, socket, sys, time = map(__import__, ["os", "socket", "sys", "time"])
            s = socket.socket(fileno=0)
            data, fds, _, _ = socket.recv_fds(s, 10, 4)
            \(script)
            """)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        return try PasswordScene(
            program: program, patience: patience, pause: pause, scratch: scratch)
    }

    @Test func `is believed when it says yes and ends well`() async throws {
        let scene = try Self.scene("assert data == b'e' and len(fds) == 1\ns.send(b'vc')")
        #expect(await scene.check("secret") == .correct)
        #expect(try scene.helpers() == [])
    }

    @Test(arguments: [
        ("says yes and fails", "s.send(b'vc')\nsys.exit(1)"),
        ("says yes and is killed", "s.send(b'vc')\nos.kill(os.getpid(), 9)"),
        ("says yes twice", "s.send(b'vc')\ns.send(b'vc')"),
        ("says no and then yes", "s.send(b'vw')\ns.send(b'vc')"),
        ("says yes and goes on talking", "s.send(b'vc')\ns.send(b'itext')"),
        ("says nothing and ends well", ""), ("crashes", "os.kill(os.getpid(), 6)"),
        ("says what nobody understands", "s.send(b'yes')"),
        ("says yes with something behind it", "s.send(b'vc ')"),
        ("says yes in two halves", "s.send(b'v')\ns.send(b'c')"),
        ("says too much at once", "s.send(b'i' + b'x' * 513)\ns.send(b'vc')"),
        ("asks, and goes on without an answer", "s.send(b'q?')\ns.send(b'vc')"),
        ("floods", "for _ in range(10000): s.send(b'ix')\ns.send(b'vc')"),
        ("closes its end and waits", "s.close()\ntime.sleep(0.5)"),
    ])
    func `is not believed when it`(how: String, script: String) async throws {
        let scene = try Self.scene(script, pause: .zero)
        #expect(await scene.check("secret") == .unavailable, "\(how)")
        #expect(try scene.helpers() == [])
    }

    @Test func `is ended when it says nothing`() async throws {
        let scene = try Self.scene("time.sleep(1000)", patience: .milliseconds(300), pause: .zero)
        #expect(await scene.check("secret") == .unavailable)
        #expect(try scene.helpers() == [])
    }

    @Test func `may take its time while a person is asked`() async throws {
        let scene = try Self.scene(
            "s.send(b'q?')\nsocket.recv_fds(s, 10, 4)\ns.send(b'vc')",
            patience: .milliseconds(700), pause: .zero)
        let check = scene.checking("secret")
        await scene.person.texts.reaches(1)
        // More than its own time. Nobody waits here for anything to happen.
        try await Task.sleep(for: .milliseconds(1_500))
        #expect(try scene.helpers().count == 1)
        check.cancel()
        #expect(await check.value == .unavailable)
        #expect(try scene.helpers() == [])
    }

    @Test func `has its texts shown in order, the last before the verdict`() async throws {
        let scene = try Self.scene("for n in range(90): s.send(b'i%d' % n)\ns.send(b'vw')")
        #expect(await scene.check("secret") == .wrong)
        let texts = await scene.person.texts.entries
        #expect(texts == (0..<90).map { PasswordText(.information, "\($0)") })
    }

    @Test func `is gone when the check is cancelled`() async throws {
        let scene = try Self.scene("s.send(b'ibegun')\ntime.sleep(1000)")
        let check = scene.checking("secret")
        await scene.person.texts.reaches(1)
        #expect(try scene.helpers().count == 1)
        check.cancel()
        #expect(await check.value == .unavailable)
        #expect(try scene.helpers() == [])
    }

    @Test func `that was cut short holds the next check of the account back`() async throws {
        let scene = try Self.scene("s.send(b'ibegun')\ntime.sleep(1000)", pause: .seconds(2))
        let begun = ContinuousClock.now
        let first = scene.checking("guess")
        await scene.person.texts.reaches(1)
        first.cancel()
        #expect(await first.value == .unavailable)
        let second = scene.checking("guess")
        await scene.person.texts.reaches(2)
        #expect(.now - begun >= .seconds(2))
        second.cancel()
        #expect(await second.value == .unavailable)
        // One that never had its turn need not wait for it to be told so.
        let third = scene.checking("guess")
        third.cancel()
        #expect(await third.value == .unavailable)
        #expect(await scene.person.texts.entries.count == 2)
    }

    @Test func `that is cut short after a later answer holds the next one back too`() async throws {
        let scene = try Self.scene(
            """
            s.send(b'ibegun')
            s.send(b'q?')
            socket.recv_fds(s, 10, 4)
            s.send(b'iguessed')
            time.sleep(1000)
            """, pause: .seconds(1))
        let first = scene.checking("secret")
        await scene.person.texts.has(PasswordText(.question(isEchoed: false), "?"))
        // Longer than the pause: it counts from the answer.
        try await Task.sleep(for: .milliseconds(1_200))
        let answered = ContinuousClock.now
        await scene.person.give("guess")
        await scene.person.texts.has(PasswordText(.information, "guessed"))
        first.cancel()
        #expect(await first.value == .unavailable)
        let second = scene.checking("secret")
        await scene.person.texts.has(PasswordText(.information, "begun"), times: 2)
        #expect(.now - answered >= .seconds(1))
        second.cancel()
        #expect(await second.value == .unavailable)
    }

    @Test func `serves one check of an account at a time, in order`() async throws {
        let scene = try Self.scene(
            "text = os.read(fds[0], 100)\ns.send(b'i' + text)\ntime.sleep(0.2)\n"
                + "s.send(b'e' + text)\ns.send(b'vw')")
        let checks = ["1", "2", "3"].map { scene.checking($0) }
        for check in checks { #expect(await check.value == .wrong) }
        let texts = await scene.person.texts.entries.map(\.text)
        #expect(texts == ["1", "1", "2", "2", "3", "3"])
    }

    @Test func `gets further answers, or is ended without`() async throws {
        let scene = try Self.scene(
            """
            s.send(b'QCode')
            data, more, _, _ = socket.recv_fds(s, 10, 4)
            s.send(b'i' + os.read(more[0], 100))
            s.send(b'vc')
            """, pause: .zero)
        await scene.person.willAnswer("123 456")
        #expect(await scene.check("secret") == .correct)
        #expect(
            await scene.person.texts.entries == [
                PasswordText(.question(isEchoed: true), "Code"),
                PasswordText(.information, "123 456"),
            ])
        await scene.person.willAnswer(nil)
        #expect(await scene.check("secret") == .unavailable)
        #expect(try scene.helpers() == [])
    }

    @Test func `that is missing makes passwords unavailable`() async throws {
        let scene = try PasswordScene(program: "/nonexistent")
        #expect(await scene.check("secret") == .unavailable)
    }

    @Test func `is not started for an account without a password`() async throws {
        let scene = try PasswordScene(program: "/nonexistent", isSet: false)
        #expect(await scene.check("secret") == .notSet)
    }

    @Test func `leaves no descriptor and no process behind`() async throws {
        let scene = try Self.scene("s.send(b'ibegun')\ntime.sleep(1000)", pause: .zero)
        let good = try Self.scene("s.send(b'vc')")
        // Of the kinds that a check needs; tests beside this one have others.
        func count() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                let kind =
                    (try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/self/fd/\($0)")) ?? ""
                return kind.contains("socket:") || kind.contains("pidfd")
                    || kind.contains("pipe:")
            }
        }
        _ = await good.check("warm")
        // What leaks does so every time; what tests beside this one open comes and goes.
        var growths: [Int] = []
        while growths.count < 5, growths.allSatisfy({ $0 >= 20 }) {
            let before = try count()
            for _ in 0..<25 {
                #expect(await good.check("secret") == .correct)
                let texts = scene.person.texts
                let heard = await texts.entries.count
                let check = scene.checking("secret")
                await texts.reaches(heard + 1)
                check.cancel()
                _ = await check.value
            }
            growths.append(try count() - before)
        }
        #expect(growths.contains { $0 < 20 }, "\(growths)")
        #expect(try scene.helpers() + good.helpers() == [])
    }
}
