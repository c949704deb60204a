// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import Testing

@testable import localauthctl

@Suite struct `A command line` {
    private static func evaluation(
        _ change: (inout EvaluationChoice) -> Void
    ) -> localauthctl.Command {
        var choice = EvaluationChoice()
        change(&choice)
        return .evaluate(choice)
    }

    @Test(
        arguments: [
            (["can"], .can(.biometrics)),
            (["can", "--policy", "any"], .can(.any)),
            (["can", "--policy=2"], .can(.any)),
            (["--policy", "1", "can"], .can(.biometrics)),
            (["can", "--policy", "any", "--policy", "biometrics"], .can(.biometrics)),
            (["evaluate"], evaluation { _ in }),
            (["evaluate", "--policy", "any"], evaluation { $0.policy = .any }),
            (["evaluate", "--reason", "pay"], evaluation { $0.reason = "pay" }),
            (["evaluate", "--reason="], evaluation { $0.reason = "" }),
            (["evaluate", "--reason=a=b"], evaluation { $0.reason = "a=b" }),
            (["evaluate", "--reason", "--json"], evaluation { $0.reason = "--json" }),
            (["evaluate", "--timeout", "1"], evaluation { $0.timeout = 1 }),
            (["evaluate", "--timeout=170"], evaluation { $0.timeout = 170 }),
            (["evaluate", "--token", "t"], evaluation { $0.token = "t" }),
            (["evaluate", "--user", "alice"], evaluation { $0.user = "alice" }),
            (["evaluate", "--fallback-title="], evaluation { $0.fallbackTitle = "" }),
            (["evaluate", "--cancel-title", "No"], evaluation { $0.cancelTitle = "No" }),
            (["evaluate", "--no-interaction"], evaluation { $0.isInteractionForbidden = true }),
            (["evaluate", "--reuse", "0"], evaluation { $0.reuse = 0 }),
            (["evaluate", "--reuse=300"], evaluation { $0.reuse = 300 }),
            (
                ["evaluate", "--challenge", String(repeating: "0aBF", count: 8)],
                evaluation { $0.challenge = (0..<16).map { $0 % 2 == 0 ? 0x0a : 0xbf } }
            ),
            (
                ["evaluate", "--required-state", "00ff"],
                evaluation { $0.requiredState = [0, 255] }
            ),
            (["unlock"], .unlock(timeout: nil)),
            (["unlock", "--timeout=5"], .unlock(timeout: 5)),
            (
                ["enroll", "left-thumb"],
                .enrol(EnrolmentChoice(finger: "left-thumb"))
            ),
            (
                [
                    "enroll", "--user", "alice", "--reader", "/r/1", "--discard-leftovers", "--",
                    "left-thumb",
                ],
                .enrol(
                    EnrolmentChoice(
                        finger: "left-thumb", user: "alice", reader: "/r/1",
                        discardsLeftovers: true))
            ),
            (["erase-reader", "--reader", "/r/1"], .eraseReader("/r/1")),
            (["list"], .list(user: "")),
            (["list", "--user=alice"], .list(user: "alice")),
            (["delete", "--all"], .delete(fingers: [], user: "")),
            (
                ["delete", "left-thumb", "right-thumb", "--user", "alice"],
                .delete(fingers: ["left-thumb", "right-thumb"], user: "alice")
            ),
            (["status"], .status),
            (["watch"], .watch),
            (["history"], .history(user: "", limit: 0)),
            (["history", "--limit", "5", "--user=alice"], .history(user: "alice", limit: 5)),
            (["history", "--limit=4294967295"], .history(user: "", limit: .max)),
            (["reset-lockout"], .resetLockout(user: "")),
            (["reset-lockout", "--user", "alice"], .resetLockout(user: "alice")),
        ] as [([String], localauthctl.Command)])
    func `names a command and its options`(
        arguments: [String], command: localauthctl.Command
    ) throws {
        #expect(try Invocation(arguments) == .run(command, .plain))
        #expect(try Invocation(["--json"] + arguments) == .run(command, .json))
        #expect(try Invocation(["-q"] + arguments) == .run(command, .quiet))
        #expect(try Invocation(["--quiet"] + arguments) == .run(command, .quiet))
    }

    @Test(
        arguments: [
            [], [""], ["-"], ["--"], ["nonsense"], ["CAN"], ["can", "can"], ["can", "-x"],
            ["can", "--nonsense"], ["can", "--reason", "x"], ["can", "--policy"],
            ["can", "--policy", ""], ["can", "--policy", "3"], ["can", "--policy", "0"],
            ["can", "--policy=Any"], ["can", "--json=yes"], ["can", "--json", "--quiet"],
            ["evaluate", "--timeout", "0"], ["evaluate", "--timeout", "171"],
            ["evaluate", "--timeout", "-1"], ["evaluate", "--timeout", "1.5"],
            ["evaluate", "--timeout", "99999999999999999999"], ["evaluate", "--user", ""],
            ["evaluate", "now"], ["evaluate", "--all"], ["enroll"],
            ["enroll", "left-thumb", "right-thumb"], ["enroll", "left-toe"],
            ["enroll", "Left-Thumb"], ["enroll", "left-thumb", "--reader", "1"],
            ["enroll", "left-thumb", "--reader", ""], ["list", "--user="], ["list", "alice"],
            ["delete"], ["delete", "--all", "left-thumb"], ["delete", ""],
            ["delete", "--all", "--user", ""], ["status", "--user", "alice"],
            ["history", "alice"], ["history", "--limit", "0"], ["history", "--limit=-1"],
            ["history", "--limit", "4294967296"], ["history", "--limit"], ["history", "--user="],
            ["list", "--limit", "1"], ["evaluate", "--reuse", "301"], ["evaluate", "--reuse=-1"],
            ["evaluate", "--challenge", ""], ["evaluate", "--challenge", "00"],
            ["evaluate", "--challenge", String(repeating: "0", count: 33)],
            ["evaluate", "--challenge", String(repeating: "0", count: 130)],
            ["evaluate", "--challenge", String(repeating: "0g", count: 16)],
            ["evaluate", "--challenge", String(repeating: "\u{661}", count: 32)],
            ["evaluate", "--required-state", ""], ["evaluate", "--required-state", "0"],
            ["evaluate", "--no-prompt=1"], ["list", "--no-prompt"], ["unlock", "--timeout", "0"],
            ["unlock", "--user", "alice"], ["unlock", "now"], ["agent", "--json"], ["agent", "-q"],
            ["agent", "--no-prompt"], ["agent", "--timeout", "1"],
            ["watch", "--timeout", "1"], ["reset-lockout", "alice"],
        ])
    func `with anything wrong is refused`(arguments: [String]) {
        #expect(throws: Invocation.Failure.self) { try Invocation(arguments) }
    }

    @Test(
        arguments: [
            ["can"], ["evaluate"], ["unlock"], ["enroll", "left-thumb"], ["delete", "--all"],
        ])
    func `can forbid prompts on the terminal`(arguments: [String]) throws {
        guard case .run(let command, .plain, prompts: true) = try Invocation(arguments) else {
            Issue.record("prompts are not shown by default")
            return
        }
        #expect(
            try Invocation(arguments + ["--no-prompt"]) == .run(command, .plain, prompts: false))
    }

    @Test func `starts an agent`() throws {
        #expect(try Invocation(["agent"]) == .run(.agent, .plain))
    }

    @Test func `asks for help whatever else is missing`() throws {
        #expect(try Invocation(["--help"]) == .help(nil))
        #expect(try Invocation(["-h", "nonsense"]) == .help(nil))
        for name in CommandName.allCases {
            #expect(try Invocation([name.rawValue, "--help"]) == .help(name))
        }
        #expect(try Invocation(["--version"]) == .version)
        #expect(try Invocation(["delete", "--version"]) == .version)
    }

    @Test(arguments: CommandName.allCases)
    func `finds its command and every option of it in the help`(name: CommandName) {
        let text = Help.text(name)
        #expect(text.contains("Usage: localauthctl \(name.rawValue)"))
        for option in OptionName.allCases where option.isCommon || name.options.contains(option) {
            #expect(text.contains("--\(option.rawValue)"))
        }
        #expect(Help.text(nil).contains("\n  \(name.rawValue) "))
    }
}
