// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The terminal is given back` {
    @Test(arguments: ["\u{3}", "\u{4}", "\u{1c}"])
    func `when the prompt is canceled`(key: String) async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            let modes = prompted.pty.localModes
            prompted.pty.type(key)
            #expect(await scene.service.choices.next() == "cancel p1")
            try await scene.fail(prompted, .userCancel)
            #expect(await prompted.pty.wait() == 3)
            #expect(prompted.pty.isEchoing)
            #expect(prompted.pty.localModes != modes)
            #expect(prompted.pty.text.contains("\r\nCanceling.\r\nlocalauthctl: "))
        }
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT]) func `when a signal comes`(
        signal: Int32
    ) async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            prompted.pty.signal(signal)
            #expect(await scene.service.choices.next() == "cancel p1")
            try await scene.fail(prompted, .userCancel)
            #expect(await prompted.pty.wait() == 3)
            #expect(prompted.pty.isEchoing)
        }
    }

    @Test func `at once when Ctrl-C comes again, and soon when nobody answers it`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            prompted.pty.type("\u{3}")
            #expect(await scene.service.choices.next() == "cancel p1")
            prompted.pty.type("\u{3}")
            #expect(await prompted.pty.wait() == 3)
            #expect(prompted.pty.isEchoing)

            let silent = try await TerminalScene()
            let other = try await silent.prompt()
            other.pty.type("\u{3}")
            #expect(await other.pty.wait() == 3)
            #expect(other.pty.isEchoing)
        }
    }

    @Test func `when the service dies`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            scene.service.close()
            #expect(await prompted.pty.wait() == 8)
            #expect(prompted.pty.isEchoing)
            #expect(prompted.pty.text.contains("Password: \r\nlocalauthctl: "))
        }
    }

    @Test func `to nobody when it is gone`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            // Leaving the bus takes the question back.
            prompted.pty.hangUp()
            #expect(await prompted.pty.wait() == 3)
        }
    }

    @Test func `when the bus ends`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            kill(scene.bus.processID, SIGKILL)
            #expect(await prompted.pty.wait() == 8)
            #expect(prompted.pty.isEchoing)
        }
    }

    @Test func `for as long as the program is stopped`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            // A shell with job control, as a person has it.
            let shell = try Pty(
                "/bin/sh", ["-i"],
                environment: scene.bus.environment.merging(["PS1": "sh> "]) { $1 })
            #expect(await shell.shows("sh> "))
            shell.type("localauthctl evaluate --policy any\n")
            let prompted = try await scene.prompted(shell)
            #expect(!shell.isEchoing)
            shell.type("half\u{1a}")
            #expect(await shell.shows("Stopped"))
            #expect(await shell.shows("sh> "))
            #expect(shell.isEchoing)
            shell.type("echo still $((40 + 2))\n")
            #expect(await shell.shows("still 42\r\n"))
            shell.type("fg\n")
            #expect(await shell.shows("LocalAuth: a program asks"))
            #expect(await shell.shows("Password: "))
            #expect(!shell.isEchoing)
            shell.type("whole\n")
            let submission = try #require(await scene.service.submissions.next())
            #expect(submission.arguments.bytes == Array("whole".utf8))
            submission.answer(SubmitPassword.Reply(accepted: false, attemptsLeft: 2))
            #expect(await shell.shows("Password: "))

            // Stopped without being asked, and continued behind the shell's back.
            let program = try shell.child()
            kill(program, SIGSTOP)
            #expect(await shell.shows("Stopped"))
            #expect(await shell.shows("sh> "))
            shell.type("stty echo\n")
            #expect(await shell.shows("sh> "))
            #expect(shell.isEchoing)
            shell.type("fg\n")
            #expect(await shell.shows("Password: "))
            #expect(!shell.isEchoing)
            try await scene.succeed(prompted)
            #expect(await shell.shows("authenticated: password\r\n"))
            #expect(await shell.shows("sh> "))
            #expect(shell.isEchoing)
            #expect(!shell.text.contains("half"))
            #expect(!shell.text.contains("whole"))
            shell.type("exit\n")
            #expect(await shell.wait() == 0)
        }
    }

    @Test func `to the shell while the program is in the background`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let shell = try Pty(
                "/bin/sh", ["-i"],
                environment: scene.bus.environment.merging(["PS1": "sh> "]) { $1 })
            #expect(await shell.shows("sh> "))
            shell.type("localauthctl evaluate --policy any &\n")
            let prompted = try await scene.prompted(
                shell, showing: "by itself after 20 seconds.\r\n")
            #expect(shell.isEchoing)
            shell.type("echo still $((40 + 2))\n")
            #expect(await shell.shows("still 42\r\n"), "what is typed is the shell's")
            shell.type("fg\n")
            #expect(await shell.shows("Password: "))
            #expect(!shell.isEchoing)
            try await scene.succeed(prompted)
            #expect(await shell.shows("authenticated: password"))
            #expect(await shell.shows("sh> "))
            #expect(shell.isEchoing)
        }
    }
}
