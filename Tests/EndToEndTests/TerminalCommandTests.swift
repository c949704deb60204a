// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import Testing

@Suite(.timeLimit(.minutes(1))) struct `On a terminal` {
    @Test func `an agent serves one prompt after the other, whoever the service is`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let pty = try scene.start("agent")
            let agent = try #require(await scene.service.agents.next())
            #expect(agent.scope == "session")
            #expect(await pty.shows("Serving the prompts of this session"))
            for (outcome, said) in [
                ("success", "Authenticated."), ("Timeout", "Nobody answered in time."),
            ] {
                try await scene.service.begin(outcome, TerminalScene.both, on: agent)
                #expect(await pty.shows("Password: "))
                #expect(!pty.isEchoing)
                pty.type("word\n")
                let submission = try #require(await scene.service.submissions.next())
                #expect(submission.arguments.id == outcome)
                submission.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
                try await scene.service.end(outcome, outcome, on: agent)
                #expect(pty.isEchoing)
                #expect(await pty.shows("Checking.\r\n\(said)\r\n"))
            }

            // Ctrl-C at a prompt is for the prompt.
            try await scene.service.begin("c", TerminalScene.both, on: agent)
            #expect(await pty.shows("Password: "))
            pty.type("\u{3}")
            #expect(await scene.service.choices.next() == "cancel c")
            try await scene.service.end("c", "UserCancel", on: agent)
            #expect(await pty.shows("Canceled.\r\n"))

            // The service dies in the middle of a prompt, and another one comes.
            try await scene.service.begin("d", TerminalScene.both, on: agent)
            #expect(await pty.shows("Password: "))
            scene.service.close()
            #expect(await pty.shows("The service has gone.\r\n"))
            #expect(pty.isEchoing)
            let next = try await FakeService(scene.bus)
            let again = try #require(await next.agents.next())
            #expect(again.connection == agent.connection)
            #expect(await pty.shows("Serving the prompts of this session"))
            pty.type("\u{3}")
            #expect(await pty.wait() == 0)
            #expect(next.agents.all.count == 1)
            next.close()
        }
    }

    @Test func `an agent waits for its session, where a service is new while that is locked`()
        async throws
    {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let pty = try scene.start("agent")
            #expect(await pty.shows("Serving the prompts of this session"))
            scene.service.close()
            let next = try await FakeService(
                scene.bus, refusing: BusError(ServiceError.notInteractive.name, "locked"))
            #expect(await pty.shows("Waiting until the session is unlocked."))
            next.refusal = nil
            next.send(EnvironmentChangedSignal.self, NoValues())
            #expect(await pty.shows("Serving the prompts of this session"))
            pty.type("\u{3}")
            #expect(await pty.wait() == 0)
            next.close()
        }
    }

    @Test func `an agent waits for a service`() async throws {
        try await onBusQueue {
            let bus = try await PrivateBus()
            let pty = try Pty(
                TerminalScene.localauthctl, ["agent"], environment: bus.environment)
            #expect(await pty.shows("Waiting for the service.\r\n"))
            let service = try await FakeService(bus)
            let agent = try #require(await service.agents.next())
            #expect(await pty.shows("Serving the prompts of this session"))
            // At a prompt too, a signal of the system's ends the program.
            try await service.begin("p1", TerminalScene.both, on: agent)
            #expect(await pty.shows("Password: "))
            pty.signal(SIGTERM)
            #expect(await pty.wait() == 0)
            #expect(pty.isEchoing)
            #expect(service.agents.all.count == 1)
            #expect(service.choices.all.isEmpty)
        }
    }

    @Test(
        arguments: [
            (ServiceError.agentExists, ExitStatus.unavailable), (.notInteractive, .notAllowed),
        ])
    func `an agent that is refused says so`(
        error: ServiceError, status: ExitStatus
    ) async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            scene.service.refusal = BusError(error.name, "another agent has the session")
            let pty = try scene.start("agent")
            #expect(await pty.wait() == status.rawValue)
            #expect(pty.text.contains("another agent has the session (\(error.rawValue))"))
        }
    }

    enum ExitStatus: Int32, Sendable { case unavailable = 5, notAllowed = 7, notReachable = 8 }

    @Test func `an agent needs a terminal, and a service that knows agents`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let result = try await run(
                TerminalScene.localauthctl, ["agent"], environment: scene.bus.environment)
            #expect(result.status == 7)
            #expect(scene.service.agents.all.isEmpty)
            let older = try await TerminalScene(hasAgents: false)
            #expect(try await older.start("agent").wait() == 8)
        }
    }

    @Test func `unlock asks for the password, and only where there is a lockout`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            scene.service.environment = ["biometry-locked-out": .bool(false)]
            let free = try scene.start("unlock")
            #expect(await free.wait() == 0)
            #expect(free.lines.first == "not locked out")
            #expect(scene.service.evaluations.all.isEmpty)

            scene.service.environment = ["biometry-locked-out": .bool(true)]
            let pty = try scene.start("unlock", "--timeout", "60")
            let agent = try #require(await scene.service.agents.next())
            let evaluation = try #require(await scene.service.evaluations.next())
            #expect(evaluation.arguments.policy == 2)
            #expect(evaluation.arguments.options["timeout"] == .uint32(60))
            #expect(evaluation.arguments.localizedReason == "end the lockout of fingerprints")
            var details = TerminalScene.both
            details["finger"] = .bool(false)
            try await scene.service.begin("p1", details, on: agent)
            #expect(await pty.shows("Type the password, which is not shown"))
            try await scene.succeed(
                TerminalScene.Prompted(pty: pty, agent: agent, evaluation: evaluation))
            #expect(await pty.wait() == 0)
            #expect(pty.lines.contains("lockout ended"))
        }
    }

    @Test func `enrolling takes the password first`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let pty = try scene.start("enroll", "left-thumb")
            let agent = try #require(await scene.service.agents.next())
            let enrolment = try #require(await scene.service.enrolments.next())
            try await scene.service.begin(
                "p1",
                ["purpose": .string("enroll"), "password": .bool(true), "finger": .bool(false)],
                on: agent)
            #expect(await pty.shows("a finger is to be enrolled"))
            #expect(await pty.shows("Password: "))
            pty.type("word\n")
            let submission = try #require(await scene.service.submissions.next())
            submission.answer(SubmitPassword.Reply(accepted: true, attemptsLeft: 3))
            try await scene.service.end("p1", "success", on: agent)
            guard case .string(let token)? = enrolment.arguments.options["token"] else {
                Issue.record("no token")
                return
            }
            scene.service.send(
                EnrollProgressSignal.self,
                EnrollProgressSignal.Arguments(token: token, done: 0, total: 5, cause: ""),
                to: agent.connection)
            #expect(await pty.shows("Touch the fingerprint reader with the left-thumb"))
            enrolment.answer(NoValues())
            #expect(await pty.wait() == 0)
            #expect(pty.lines.contains("enrolled: left-thumb"))
        }
    }

    @Test func `a deletion ends when its prompt is canceled`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let pty = try scene.start("delete", "--all")
            let agent = try #require(await scene.service.agents.next())
            let deletion = try #require(await scene.service.deletions.next())
            try await scene.service.begin(
                "p1", ["purpose": .string("delete"), "password": .bool(true)], on: agent)
            #expect(await pty.shows("Password: "))
            pty.type("\u{3}")
            #expect(await scene.service.choices.next() == "cancel p1")
            try await scene.service.end("p1", "UserCancel", on: agent)
            deletion.fail(.userCancel)
            #expect(await pty.wait() == 3)
            #expect(pty.isEchoing)
        }
    }

    @Test func `can answers as evaluate would`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            #expect(try await scene.start("can", "--policy", "any").wait() == 0)
            #expect(try await scene.start("can", "--policy", "any", "--no-prompt").wait() == 1)
            let result = try await run(
                TerminalScene.localauthctl, ["can", "--policy", "any"],
                environment: scene.bus.environment)
            #expect(result.status == 1)
        }
    }

    @Test func `evaluate hands its options on, and shows the ticket`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let challenge = String(repeating: "0aF0", count: 8)
            let pty = try scene.start(
                "evaluate", "--fallback-title=", "--cancel-title", "Not now", "--no-interaction",
                "--reuse", "60", "--challenge", challenge, "--required-state", "00ff", "--token",
                "t")
            let evaluation = try #require(await scene.service.evaluations.next())
            let bytes = [[UInt8]](repeating: [0x0a, 0xf0], count: 8).flatMap(\.self)
            #expect(
                evaluation.arguments.options == [
                    "fallback-title": .string(""), "cancel-title": .string("Not now"),
                    "interaction-not-allowed": .bool(true), "reuse-duration": .uint32(60),
                    "challenge": .bytes(bytes), "required-domain-state": .bytes([0, 255]),
                    "token": .string("t"),
                ])
            evaluation.answer(
                EvaluatePolicy.Reply(result: [
                    "method": .string("reused"), "ticket": .bytes([1, 171]),
                ]))
            #expect(await pty.wait() == 0)
            #expect(pty.lines.contains("ticket: 01ab"))
        }
    }
}
