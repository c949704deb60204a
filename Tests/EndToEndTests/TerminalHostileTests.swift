// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A terminal prompt withstands` {
    @Test(
        arguments: [
            "\u{1b}[2J\u{1b}[1;1H\u{1b}]0;title\u{7}gone", "\u{9b}31mred\u{90}q\u{9c}",
            "abc\u{202e}drowssap", "\u{2066}open", "line\nPassword: \r\n\u{85}Password:\u{2028}x",
            "e" + String(repeating: "\u{301}", count: 5_000), "a\0b\u{8}\u{8}\u{7f}",
            "\" not verified): \"root", "wide" + String(repeating: " ", count: 900) + "Password:",
            String(repeating: "x", count: 1_000_000), "\u{fffe}\u{feff}\u{200b}", "",
        ])
    func `hostile words, each of which is part of one line`(text: String) async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            var details = TerminalScene.both
            for key in ["reason", "user", "caller", "fallback-title", "cancel-title", "reader"] {
                details[key] = .string(text)
            }
            let prompted = try await scene.prompt(details)
            for key in ["information", "error", "question", "retry", "progress"] {
                try await scene.service.update("p1", [key: .string(text)], on: prompted.agent)
            }
            try await scene.service.end("p1", text, on: prompted.agent)
            prompted.evaluation.fail(.timeout)
            #expect(await prompted.pty.wait() == 4)
            let pty = prompted.pty
            let allowed: Set<UInt8> = [0x0a, 0x0d]
            #expect(pty.output.allSatisfy { $0 >= 0x20 && $0 != 0x7f || allowed.contains($0) })
            for scalar in pty.text.unicodeScalars where !scalar.isASCII {
                #expect(scalar.properties.generalCategory != .format)
                #expect(scalar.properties.generalCategory != .control)
            }
            let own = [
                "LocalAuth: ", "  ", "Password: ", "Error: ", "localauthctl: ", "The finger ",
            ]
            for (number, line) in pty.lines.enumerated() where !line.isEmpty {
                let isRelayed = number >= 9
                #expect(isRelayed || own.contains { line.hasPrefix($0) }, "\(line.prefix(80))")
                #expect(line.unicodeScalars.count < 2_100)
                let marks = line.unicodeScalars.count { $0 == "\u{301}" }
                #expect(marks <= 10)
            }
            #expect(pty.isEchoing)
        }
    }

    @Test func `values of wrong types, and none at all`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let keys = PromptKey.allCases.map(\.rawValue) + ["unknown", ""]
            let values: [BusValue] = [
                .string("text"), .uint32(.max), .bool(true), .bytes([0]), .structure([.bool(true)]),
                .strings(["x"]), .variant(.variant(.int64(-1))),
            ]
            var details: [String: BusValue] = [:]
            let prompted = try await scene.prompt([:], showing: "Press Ctrl-C to cancel.\r\n")
            for value in values {
                for key in keys {
                    details[key] = value
                    try await scene.service.update("p1", [key: value], on: prompted.agent)
                }
                try await scene.service.update("p1", details, on: prompted.agent)
                try await scene.service.end("p1", "", on: prompted.agent)
                try await scene.service.begin("p1", details, on: prompted.agent)
            }
            try await scene.service.end("p1", "success", on: prompted.agent)
            prompted.evaluation.answer(EvaluatePolicy.Reply(result: [:]))
            #expect(await prompted.pty.wait() == 0)
            #expect(prompted.pty.isEchoing)
        }
    }

    @Test func `a service that says what makes no sense, or nothing more`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let prompted = try await scene.prompt()
            await #expect(throws: BusError.self) {
                try await scene.service.begin("p1", TerminalScene.both, on: prompted.agent)
            }
            await #expect(throws: BusError.self) {
                try await scene.service.begin("p2", TerminalScene.both, on: prompted.agent)
            }
            for id in ["p2", "", String(repeating: "p", count: 100_000)] {
                await #expect(
                    throws: BusError(ServiceError.noSuchPrompt.name, "no such prompt is shown")
                ) {
                    try await scene.service.update(id, ["finger": .bool(false)], on: prompted.agent)
                }
                await #expect(
                    throws: BusError(ServiceError.noSuchPrompt.name, "no such prompt is shown")
                ) { try await scene.service.end(id, "success", on: prompted.agent) }
            }
            // An answer to a password that was refused in every way, and one that never comes.
            for error in [
                BusError(.limitsExceeded, "later\u{1b}[2J"), BusError(.notSupported, "no"),
            ] {
                prompted.pty.type("x\n")
                let submission = try #require(await scene.service.submissions.next())
                submission.fail(error)
                #expect(await prompted.pty.shows("Not taken: "))
                #expect(await prompted.pty.shows("Password: "))
            }
            prompted.pty.type("x\n")
            let submission = try #require(await scene.service.submissions.next())
            #expect(await prompted.pty.shows("Checking."))
            try await scene.service.end("p1", "success", on: prompted.agent)
            submission.answer(SubmitPassword.Reply(accepted: false, attemptsLeft: 2))
            scene.service.choiceRefusal = BusError(ServiceError.noSuchPrompt.name, "")
            try await scene.service.begin("p2", TerminalScene.both, on: prompted.agent)
            #expect(await prompted.pty.shows("Password: "))
            // Silence, until somebody has had enough.
            prompted.pty.type("\u{3}")
            #expect(await scene.service.choices.next() == "cancel p2")
            #expect(await prompted.pty.wait() == 3)
            #expect(prompted.pty.isEchoing)
            #expect(!prompted.pty.text.contains("\u{1b}"))
        }
    }

    @Test func `strangers on the bus`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let pty = try scene.start("evaluate", "--policy", "any")
            let agent = try #require(await scene.service.agents.next())
            let evaluation = try #require(await scene.service.evaluations.next())
            let stranger = try scene.bus.connect()
            func beg() async -> ErrorName? {
                do throws(BusError) {
                    _ = try await stranger.call(
                        BeginPrompt.self,
                        BeginPrompt.Arguments(id: "p1", details: TerminalScene.both),
                        of: .peer(agent.connection), at: agent.path, deadline: .seconds(30))
                    return nil
                } catch {
                    return error.name
                }
            }
            let refused = await beg()
            #expect(refused == "org.freedesktop.DBus.Error.AccessDenied")
            #expect(pty.isEchoing)
            try await scene.service.begin("p1", TerminalScene.both, on: agent)
            #expect(await pty.shows("Password: "))
            await #expect(throws: BusError.self) {
                _ = try await stranger.call(
                    EndPrompt.self, EndPrompt.Arguments(id: "p1", outcome: "success"),
                    of: .peer(agent.connection), at: agent.path, deadline: .seconds(30))
            }
            #expect(!pty.isEchoing)
            try await scene.fail(
                TerminalScene.Prompted(pty: pty, agent: agent, evaluation: evaluation), .timeout)
            #expect(await pty.wait() == 4)
            stranger.close()
        }
    }

    @Test func `having no terminal to be shown on`() async throws {
        try await onBusQueue {
            let scene = try await TerminalScene()
            let ways: [[String]] = [
                ["evaluate"], ["evaluate", "--no-prompt"], ["evaluate", "--json"],
                ["evaluate", "-q"],
            ]
            for (number, words) in ways.enumerated() {
                let pty = try Pty(
                    TerminalScene.localauthctl, words, environment: scene.bus.environment,
                    input: number == 0 ? "/dev/null" : nil)
                let evaluation = try #require(await scene.service.evaluations.next())
                evaluation.answer(EvaluatePolicy.Reply(result: ["method": .string("biometrics")]))
                #expect(await pty.wait() == 0)
            }
            #expect(scene.service.agents.all.isEmpty)
        }
    }

    @Test(
        arguments: [
            nil, BusError(ServiceError.agentExists.name, ""),
            BusError(ServiceError.notInteractive.name, ""), BusError(.failed, ""),
        ])
    func `a service that takes no agent`(refusal: BusError?) async throws {
        try await onBusQueue {
            let scene = try await TerminalScene(hasAgents: refusal != nil)
            scene.service.refusal = refusal
            let pty = try scene.start("evaluate")
            let evaluation = try #require(await scene.service.evaluations.next())
            #expect(pty.isEchoing)
            evaluation.answer(EvaluatePolicy.Reply(result: ["method": .string("biometrics")]))
            #expect(await pty.wait() == 0)
        }
    }
}
