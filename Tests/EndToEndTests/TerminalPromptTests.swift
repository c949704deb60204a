// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A prompt on a terminal` {
    /// Long, because who frees memory writes over its beginning.
    private let secret =
        "Zq-7w\u{e9}-" + String(repeating: "filler.", count: 20) + "correct-horse-battery"
    private let tail = "rect-horse-batt"

    @Test func `takes the password, which is nowhere else`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            let pty = prompted.pty
            #expect(!pty.isEchoing)
            #expect(pty.text.contains("not verified): \"/usr/bin/vault\""))
            #expect(pty.text.contains("\"open the vault\""))
            #expect(pty.text.contains("\"A reader\""))

            pty.type("wrong one\n")
            let first = try #require(await scene.service.submissions.next())
            #expect(first.arguments.bytes == Array("wrong one".utf8))
            #expect(first.arguments.id == "p1")
            #expect(first.arguments.isComplete)
            first.answer(SubmitPassword.Reply(accepted: false, attemptsLeft: 2))
            #expect(await pty.shows("That password is wrong (tries left: 2).\r\nPassword: "))

            pty.type("\(secret)\n")
            let second = try #require(await scene.service.submissions.next())
            #expect(second.arguments.bytes == Array(secret.utf8))
            let process = ProcessMemory(id: pty.processID)
            second.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
            try await scene.service.end("p1", "success", on: prompted.agent)
            // The prompt is over, and the program waits for the evaluation's answer.
            #expect(pty.isEchoing)
            #expect(try process.holds("open the vault"), "the look itself finds what is there")
            #expect(try !process.holds(tail))
            #expect(try !process.tells(tail))
            prompted.evaluation.answer(
                EvaluatePolicy.Reply(result: ["method": .string("password")]))
            #expect(await pty.wait() == 0)
            #expect(pty.lines.contains("authenticated: password"))
            #expect(!pty.text.contains("wrong one"))
            #expect(!pty.text.contains(tail))
            #expect(pty.isEchoing)
        }
    }

    @Test func `takes any bytes as they are typed`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            let bytes: [UInt8] = [0xff, 0xfe, 0x20, 0x80, 0x20]
            prompted.pty.type(bytes + [0x0a])
            let submission = try #require(await scene.service.submissions.next())
            #expect(submission.arguments.bytes == bytes)
            submission.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
            try await scene.succeed(prompted)
            #expect(await prompted.pty.wait() == 0)
        }
    }

    @Test func `takes as much as a password may have, and no more`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            prompted.pty.type(String(repeating: "a", count: 513) + "\n")
            #expect(await prompted.pty.shows("That is too long: 512 bytes at most.\r\nPassword: "))
            let longest = String(repeating: "b", count: 512)
            prompted.pty.type(longest + "\n")
            let submission = try #require(await scene.service.submissions.next())
            #expect(submission.arguments.bytes == Array(longest.utf8))
            submission.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
            try await scene.succeed(prompted)
            #expect(await prompted.pty.wait() == 0)
            #expect(!prompted.pty.text.contains("aaa"))
        }
    }

    @Test func `takes only the first line of what is pasted`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            prompted.pty.type("first\nsecond\nthird\n")
            let submission = try #require(await scene.service.submissions.next())
            #expect(submission.arguments.bytes == Array("first".utf8))
            submission.answer(SubmitPassword.Reply(accepted: false, attemptsLeft: 2))
            #expect(await prompted.pty.shows("wrong (tries left: 2).\r\nPassword: "))
            prompted.pty.type("typed\n")
            let next = try #require(await scene.service.submissions.next())
            #expect(next.arguments.bytes == Array("typed".utf8))
            next.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
            try await scene.succeed(prompted)
            #expect(await prompted.pty.wait() == 0)
        }
    }

    @Test func `takes nothing that was typed before it was shown`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let pty = try scene.start("evaluate", "--policy", "any")
            let agent = try #require(await scene.service.agents.next())
            let evaluation = try #require(await scene.service.evaluations.next())
            pty.type("for another program\n")
            #expect(await pty.shows("for another program"))
            try await scene.service.begin("p1", TerminalScene.both, on: agent)
            #expect(await pty.shows("Password: "))
            pty.type("mine\n")
            let submission = try #require(await scene.service.submissions.next())
            #expect(submission.arguments.bytes == Array("mine".utf8))
            try await scene.fail(
                TerminalScene.Prompted(pty: pty, agent: agent, evaluation: evaluation), .timeout)
            #expect(await pty.wait() == 4)
        }
    }

    @Test func `leaves half a password to nobody`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            prompted.pty.type("half a pass")
            // A touch instead.
            try await scene.succeed(prompted, method: "biometrics")
            #expect(await prompted.pty.wait() == 0)
            #expect(prompted.pty.isEchoing)
            // Enter, as whoever reads next would see it.
            prompted.pty.type("end\n")
            #expect(await prompted.pty.shows("end\r\n"))
            #expect(!prompted.pty.text.contains("half"))
            #expect(prompted.pty.unread == 4)
        }
    }

    @Test func `asks again after Enter alone`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            prompted.pty.type("\n")
            #expect(await prompted.pty.shows("LocalAuth: a program asks"))
            #expect(await prompted.pty.shows("Password: "))
            prompted.pty.type("x\n")
            let submission = try #require(await scene.service.submissions.next())
            #expect(submission.arguments.bytes == Array("x".utf8), "and submits nothing empty")
            try await scene.fail(prompted, .authenticationFailed)
            #expect(await prompted.pty.wait() == 1)
        }
    }

    @Test(arguments: [("Use the other way", "Use the other way"), ("", "Use another way")])
    func `chooses the fallback by Enter where there is one`(
        title: String, shown: String
    ) async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            var details = TerminalScene.both
            details["password"] = .bool(false)
            details["fallback-title"] = .string(title)
            let prompted = try await scene.prompt(
                details, showing: "ends by itself after 20 seconds.\r\n")
            #expect(prompted.pty.text.contains("Press Enter alone for: \"\(shown)\""))
            prompted.pty.type("not a password\n")
            #expect(await prompted.pty.shows("No password is taken here."))
            prompted.pty.type("\n")
            #expect(await scene.service.choices.next() == "fallback p1")
            #expect(scene.service.submissions.all.isEmpty)
            try await scene.fail(prompted, .userFallback)
            #expect(await prompted.pty.wait() == 10)
            #expect(!prompted.pty.text.contains("not a password"))
        }
    }

    @Test func `relays what the check asks and says`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            let pty = prompted.pty
            pty.type("pass\n")
            let first = try #require(await scene.service.submissions.next())
            #expect(await pty.shows("Checking."))
            try await scene.service.update(
                "p1",
                [
                    "information": .string("Your password expires soon."),
                    "question": .string("One-time code:"), "echo": .bool(false),
                ], on: prompted.agent)
            #expect(await pty.shows("Your password expires soon.\r\nOne-time code: "))
            #expect(!pty.isEchoing)
            pty.type("424242\n")
            let second = try #require(await scene.service.submissions.next())
            #expect(second.arguments.bytes == Array("424242".utf8))
            second.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
            try await scene.service.update(
                "p1", ["question": .string("Which town?"), "echo": .bool(true)], on: prompted.agent)
            #expect(await pty.shows("Which town? "))
            #expect(pty.isEchoing)
            pty.type("Bath\n")
            let third = try #require(await scene.service.submissions.next())
            #expect(third.arguments.bytes == Array("Bath".utf8))
            #expect(await pty.shows("Bath\r\nChecking."))
            third.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
            try await scene.service.update(
                "p1", ["error": .string("The server does not answer.")], on: prompted.agent)
            #expect(await pty.shows("Error: The server does not answer."))
            first.answer(SubmitPassword.Reply(accepted: false, attemptsLeft: 1))
            #expect(await pty.shows("wrong (tries left: 1).\r\nPassword: "))
            #expect(!pty.isEchoing)
            try await scene.fail(prompted, .authenticationFailed)
            #expect(await pty.wait() == 1)
            #expect(!pty.text.contains("424242"))
        }
    }

    @Test func `says what became of each touch`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            try await scene.service.update(
                "p1", ["retry": .string("no-match"), "attempts-left": .uint32(2)],
                on: prompted.agent)
            #expect(
                await prompted.pty.shows(
                    "That finger does not match; try again (tries left: 2).\r\nPassword: "))
            try await scene.service.update(
                "p1", ["finger": .bool(false), "attempts-left": .uint32(0)], on: prompted.agent)
            #expect(await prompted.pty.shows("Type the password, which is not shown"))
            // The signals say the same, and are not shown as well.
            scene.service.send(
                RetrySignal.self,
                RetrySignal.Arguments(
                    token: "t", cause: "no-match", attemptsLeft: 2, message: "SIGNALLED"),
                to: prompted.agent.connection)
            try await scene.fail(prompted, .timeout)
            #expect(await prompted.pty.wait() == 4)
            #expect(!prompted.pty.text.contains("SIGNALLED"))
        }
    }

    @Test func `stays what it is when the terminal changes its size`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            prompted.pty.type("be")
            prompted.pty.resize(columns: 7, rows: 2)
            prompted.pty.type("fore")
            prompted.pty.resize(columns: 0, rows: 0)
            prompted.pty.type("\n")
            let submission = try #require(await scene.service.submissions.next())
            #expect(submission.arguments.bytes == Array("before".utf8))
            submission.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
            try await scene.succeed(prompted)
            #expect(await prompted.pty.wait() == 0)
            #expect(!prompted.pty.text.contains("\u{1b}"))
        }
    }

    @Test func `keeps what is half typed while a finger is tried`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            prompted.pty.type("be")
            try await scene.service.update(
                "p1", ["retry": .string("too-short"), "attempts-left": .uint32(3)],
                on: prompted.agent)
            #expect(await prompted.pty.shows("too short; try again"))
            prompted.pty.type("fo")
            try await scene.service.update(
                "p1", ["finger": .bool(false), "attempts-left": .uint32(0)], on: prompted.agent)
            #expect(await prompted.pty.shows("Type the password"))
            prompted.pty.type("re\n")
            let submission = try #require(await scene.service.submissions.next())
            #expect(submission.arguments.bytes == Array("before".utf8))
            submission.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
            try await scene.succeed(prompted)
            #expect(await prompted.pty.wait() == 0)
        }
    }

    @Test func `keeps nobody waiting while the terminal is held`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let pty = try scene.start("evaluate", "--policy", "any")
            let agent = try #require(await scene.service.agents.next())
            let evaluation = try #require(await scene.service.evaluations.next())
            pty.hold(true)
            try await scene.service.begin("p1", TerminalScene.both, on: agent)
            #expect(!pty.isEchoing)
            #expect(pty.output.isEmpty)
            pty.type("word\n")
            let submission = try #require(await scene.service.submissions.next())
            #expect(submission.arguments.bytes == Array("word".utf8))
            submission.answer(SubmitPassword.Reply(accepted: false, attemptsLeft: 2))
            pty.hold(false)
            #expect(await pty.shows("That password is wrong (tries left: 2).\r\nPassword: "))
            pty.hold(true)
            pty.signal(SIGTERM)
            #expect(await scene.service.choices.next() == "cancel p1")
            pty.signal(SIGTERM)
            // What there is to say has nowhere to go; the end comes all the same.
            #expect(await pty.wait() == 3)
            #expect(pty.isEchoing)
            evaluation.fail(.userCancel)
        }
    }
}
