// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import LocalAuthContract
import Testing

@testable import localauthctl

@Suite struct `The text of a prompt` {
    private func text(_ changes: [PromptKey: BusValue] = [:]) -> PromptText {
        var details: [PromptKey: BusValue] = [
            .purpose: .string("evaluate"), .reason: .string("open the vault"),
            .user: .string("alice"), .caller: .string("/usr/bin/vault"),
            .callerEvidence: .string("unverified"), .timeout: .uint32(20),
            .reader: .string("A reader"), .scanType: .string("press"), .finger: .bool(true),
            .password: .bool(true), .attemptsLeft: .uint32(3), .passwordsLeft: .uint32(2),
        ]
        details.merge(changes) { $1 }
        return PromptText(
            Dictionary(uniqueKeysWithValues: details.map { ($0.key.rawValue, $0.value) }))
    }

    @Test func `says who asks, why, for whom, and what to do`() {
        #expect(
            text().lines == [
                "LocalAuth: a program asks whether it is you.",
                "  Asked by a program that calls itself (this is not verified): \"/usr/bin/vault\"",
                "  Reason given: \"open the vault\"",
                "  Account: \"alice\"",
                "  Reader: \"A reader\"",
                "  Touch the fingerprint reader (tries left: 3).",
                "  Or type the password, which is not shown (tries left: 2).",
                "  Press Ctrl-C to cancel.",
                "  It ends by itself after 20 seconds.",
            ])
        #expect(text().label == "Password:")
    }

    @Test(
        arguments: [
            ("sandbox", "Asked by the sandboxed application: \"x\""),
            ("label", "Asked by the program with the security label: \"x\""),
            ("unverified", "Asked by a program that calls itself (this is not verified): \"x\""),
            ("certainly", "Asked by a program that calls itself (this is not verified): \"x\""),
            ("", "Asked by a program that calls itself (this is not verified): \"x\""),
        ])
    func `says how the caller is known, and never too much`(evidence: String, line: String) {
        let prompt = text([.caller: .string("x"), .callerEvidence: .string(evidence)])
        #expect(prompt.lines[1] == "  " + line)
    }

    @Test(arguments: [BusValue.string(""), .uint32(1)])
    func `says when the caller is not known`(caller: BusValue) {
        let prompt = text([.caller: caller, .callerEvidence: .string("sandbox")])
        #expect(prompt.lines[1] == "  Asked by a program that is not known.")
    }

    @Test func `asks for what is wanted`() {
        func instruction(_ finger: Bool, _ password: Bool, _ scan: String = "press") -> String? {
            text([
                .finger: .bool(finger), .password: .bool(password), .scanType: .string(scan),
            ]).lines.first { $0.hasPrefix("  T") || $0.hasPrefix("  S") || $0.hasPrefix("  W") }
        }
        #expect(instruction(true, false) == "  Touch the fingerprint reader (tries left: 3).")
        #expect(
            instruction(true, false, "swipe")
                == "  Swipe your finger over the reader (tries left: 3).")
        #expect(
            instruction(false, true)
                == "  Type the password, which is not shown (tries left: 2).")
        #expect(instruction(false, false) == "  Wait.")
    }

    @Test func `has the titles that were given`() {
        let prompt = text([
            .password: .bool(false), .fallbackTitle: .string("PIN"),
            .cancelTitle: .string("Not now"),
        ])
        #expect(prompt.lines.contains("  Press Enter alone for: \"PIN\""))
        #expect(prompt.lines.contains("  Press Ctrl-C for: \"Not now\""))
    }

    @Test(arguments: [("enroll", "enrolled"), ("delete", "deleted")])
    func `says when it is about enrolled fingers`(purpose: String, word: String) {
        let prompt = text([.purpose: .string(purpose)])
        #expect(prompt.lines[0].contains("\(word), which takes your password"))
    }

    @Test func `cannot be made to say more by quotation marks and gaps`() {
        let prompt = text([
            .reason: .string(
                "a\" \u{201c}b\u{201d}"
                    + String(repeating: " \u{3000}\u{a0}", count: 300) + "Password:")
        ])
        #expect(prompt.lines[2] == "  Reason given: \"a' 'b' Password:\"")
    }

    @Test(arguments: PromptKey.allCases) func `needs no value, of whatever type`(key: PromptKey) {
        let values: [BusValue] = [
            .string("x"), .string(""), .uint32(7), .bool(true), .bytes([1]),
            .strings(["a"]), .variant(.string("x")), .int64(-1), .structure([.bool(false)]),
        ]
        for value in values {
            var prompt = PromptText([key.rawValue: value])
            #expect(prompt.lines.count >= 4)
            _ = prompt.update([key.rawValue: value])
            var full = text()
            _ = full.update([key.rawValue: value])
            #expect(full.lines.count >= 7)
        }
    }

    // MARK: Lines that are typed

    @Test func `knows what a line is for`() {
        let password = text()
        #expect(password.use(ofEmpty: false) == .submit)
        #expect(password.use(ofEmpty: true) == .showAgain)
        let titled = text([.fallbackTitle: .string("")])
        #expect(titled.use(ofEmpty: true) == .showAgain, "the password is taken anyway")
        let finger = text([.password: .bool(false)])
        #expect(finger.use(ofEmpty: false) == .refuse)
        #expect(finger.use(ofEmpty: true) == .showAgain)
        #expect(finger.label == nil)
        let fallback = text([.password: .bool(false), .fallbackTitle: .string("")])
        #expect(fallback.use(ofEmpty: false) == .refuse)
        #expect(fallback.use(ofEmpty: true) == .chooseFallback)
        var question = text([.password: .bool(false), .question: .string("Code:")])
        #expect(question.use(ofEmpty: true) == .submit)
        #expect(question.use(ofEmpty: false) == .submit)
        #expect(question.label == "Code:")
        question.answer()
        #expect(question.label == nil)
    }

    @Test func `counts wrong passwords`() {
        var prompt = text()
        #expect(prompt.countWrongPassword(left: 1) == "That password is wrong (tries left: 1).")
        #expect(prompt.takesPassword)
        #expect(
            prompt.countWrongPassword(left: 0)
                == "That password is wrong, and no more are taken.")
        #expect(!prompt.takesPassword)
        #expect(prompt.label == nil)
    }

    // MARK: Changes

    @Test(
        arguments: [
            "no-match", "too-short", "too-fast", "not-centered", "remove-finger", "general", "new",
        ])
    func `says why a touch did not count`(cause: String) {
        var prompt = text()
        let change = prompt.update(["retry": .string(cause), "attempts-left": .uint32(2)])
        #expect(change.lines.count == 1)
        #expect(change.lines[0].hasSuffix("; try again (tries left: 2)."))
        #expect(!change.isInputDifferent)
        #expect(prompt.attemptsLeft == 2)
        let last = prompt.update(["retry": .string(cause), "finger": .bool(false)])
        #expect(!last.lines[0].contains("again"))
    }

    @Test func `tells changes of what is wanted, once`() {
        var prompt = text()
        let first = prompt.update(["finger": .bool(false), "progress": .string("queued")])
        #expect(first.lines.count == 2)
        #expect(!first.isInputDifferent)
        let same = prompt.update(["finger": .bool(false), "progress": .string("queued")])
        #expect(same == PromptText.Change())
        let none = prompt.update(["password": .bool(false)])
        #expect(none.lines == ["Wait."])
        #expect(none.isInputDifferent)
        #expect(prompt.update([:]) == PromptText.Change())
        #expect(prompt.update(["unknown": .bool(true)]) == PromptText.Change())
    }

    @Test func `shows what is typed only where it is told to`() {
        var prompt = text()
        #expect(prompt.update(["question": .string("Code:")]).isInputDifferent)
        #expect(prompt.question == PromptText.Question(text: "Code:", isEchoed: false))
        #expect(prompt.update(["echo": .bool(true)]) == PromptText.Change())
        #expect(prompt.question?.isEchoed == false)
        #expect(
            prompt.update(["question": .string("Town:"), "echo": .bool(true)]).isInputDifferent)
        #expect(prompt.question?.isEchoed == true)
        #expect(prompt.update(["question": .string("")]).isInputDifferent)
        #expect(prompt.question == nil)
    }
}
