// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

/// A prompt as the service has described it, in words for a terminal.
///
/// Whatever the description holds, there are words: a value of another type than it should have
/// counts as missing, and a key that is not known is passed over. Every text from outside stands
/// alone on its line, behind words of ours, and between quotation marks of which it has none.
struct PromptText: Equatable {
    /// What the next line is for.
    struct Question: Equatable {
        let text: String
        let isEchoed: Bool
    }

    /// What is to be done with a line that was typed.
    enum Use: Equatable {
        case submit
        case chooseFallback
        case showAgain
        case refuse
    }

    /// What a change came to.
    struct Change: Equatable {
        var lines: [String] = []
        /// Whether something else is to be typed now, or nothing more, or again something.
        var isInputDifferent = false
    }

    private let purpose: String
    private let reason: String
    private let user: String
    private let caller: String
    private let evidence: String
    private let fallbackTitle: String?
    private let cancelTitle: String
    private let timeout: UInt32?
    private let reader: String
    private let scanType: String
    private(set) var wantsFinger: Bool
    private(set) var takesPassword: Bool
    private(set) var attemptsLeft: UInt32?
    private(set) var passwordsLeft: UInt32?
    private(set) var question: Question?
    private var progress: String?

    init(_ details: [String: BusValue]) {
        let values = PromptValues(details)
        purpose = values.text(.purpose) ?? "evaluate"
        reason = values.text(.reason) ?? ""
        user = values.text(.user) ?? ""
        caller = values.text(.caller) ?? ""
        evidence = values.text(.callerEvidence) ?? ""
        fallbackTitle = values.text(.fallbackTitle)
        cancelTitle = values.text(.cancelTitle) ?? ""
        timeout = values.number(.timeout)
        reader = values.text(.reader) ?? ""
        scanType = values.text(.scanType) ?? ""
        wantsFinger = values.flag(.finger) ?? false
        takesPassword = values.flag(.password) ?? false
        attemptsLeft = values.number(.attemptsLeft)
        passwordsLeft = values.number(.passwordsLeft)
        question = values.question
        progress = values.text(.progress)
    }

    // MARK: The whole of it

    /// Everything that is to be known, from the first line to the last; what is certain stands
    /// before and behind what somebody else says.
    var lines: [String] {
        var lines = [title, asker]
        if !reason.isEmpty { lines.append("  Reason given: \(Self.quoted(reason))") }
        if !user.isEmpty { lines.append("  Account: \(Self.quoted(user, limit: 100))") }
        if wantsFinger, !reader.isEmpty {
            lines.append("  Reader: \(Self.quoted(reader, limit: 100))")
        }
        lines += instructions.map { "  " + $0 }
        if let fallbackTitle, !takesPassword {
            let title = fallbackTitle.isEmpty ? "Use another way" : fallbackTitle
            lines.append("  Press Enter alone for: \(Self.quoted(title, limit: 100))")
        }
        let cancel = Self.quoted(cancelTitle, limit: 100)
        lines.append(
            cancelTitle.isEmpty ? "  Press Ctrl-C to cancel." : "  Press Ctrl-C for: \(cancel)")
        if let timeout { lines.append("  It ends by itself after \(timeout) seconds.") }
        return lines
    }

    private var title: String {
        switch purpose {
        case "enroll": "LocalAuth: a finger is to be enrolled, which takes your password."
        case "delete": "LocalAuth: fingers are to be deleted, which takes your password."
        default: "LocalAuth: a program asks whether it is you."
        }
    }

    private var asker: String {
        guard !caller.isEmpty else { return "  Asked by a program that is not known." }
        let known =
            switch evidence {
            case "sandbox": "Asked by the sandboxed application"
            case "label": "Asked by the program with the security label"
            default: "Asked by a program that calls itself (this is not verified)"
            }
        return "  \(known): \(Self.quoted(caller, limit: 200))"
    }

    private var instructions: [String] {
        func counted(_ what: String, _ left: UInt32?) -> String {
            what + (left.map { " (tries left: \($0))." } ?? ".")
        }
        let touch = counted(
            scanType == "swipe"
                ? "Swipe your finger over the reader" : "Touch the fingerprint reader",
            attemptsLeft)
        let password = counted("ype the password, which is not shown", passwordsLeft)
        return switch (wantsFinger, takesPassword) {
        case (true, true): [touch, "Or t" + password]
        case (true, false): [touch]
        case (false, true): ["T" + password]
        case (false, false): ["Wait."]
        }
    }

    /// What stands before the line that is to be typed; `nil` when none is.
    var label: String? {
        if let question { return question.text }
        return takesPassword ? "Password:" : nil
    }

    // MARK: What is typed

    /// What a line is for, which is empty or not.
    func use(ofEmpty isEmpty: Bool) -> Use {
        if question != nil { return .submit }
        switch (isEmpty, takesPassword) {
        case (false, true): return .submit
        case (false, false): return .refuse
        case (true, false): return fallbackTitle == nil ? .showAgain : .chooseFallback
        case (true, true): return .showAgain
        }
    }

    /// A question has its answer.
    mutating func answer() { question = nil }

    /// A password was wrong.
    mutating func countWrongPassword(left: UInt32) -> String {
        passwordsLeft = left
        takesPassword = takesPassword && left > 0
        return left > 0
            ? "That password is wrong (tries left: \(left))."
            : "That password is wrong, and no more are taken."
    }

    // MARK: Changes

    mutating func update(_ changes: [String: BusValue]) -> Change {
        let values = PromptValues(changes)
        let old = self
        wantsFinger = values.flag(.finger) ?? wantsFinger
        takesPassword = values.flag(.password) ?? takesPassword
        attemptsLeft = values.number(.attemptsLeft) ?? attemptsLeft
        passwordsLeft = values.number(.passwordsLeft) ?? passwordsLeft
        if changes[PromptKey.question.rawValue] != nil { question = values.question }
        var change = Change()
        if let text = values.text(.information), !text.isEmpty { change.lines.append(text) }
        if let text = values.text(.error), !text.isEmpty { change.lines.append("Error: \(text)") }
        if let cause = values.text(.retry), !cause.isEmpty { change.lines.append(retry(cause)) }
        if let state = values.text(.progress), state != progress {
            progress = state
            if state == "queued" { change.lines.append("Waiting for another evaluation to end.") }
        }
        if old.wantsFinger != wantsFinger || old.takesPassword != takesPassword {
            change.lines += instructions
        }
        change.isInputDifferent =
            old.takesPassword != takesPassword || (question != nil && question != old.question)
            || (question == nil) != (old.question == nil)
        return change
    }

    private func retry(_ cause: String) -> String {
        let what =
            switch cause {
            case "no-match": "That finger does not match"
            case "too-short": "The touch was too short"
            case "too-fast": "The movement was too fast"
            case "not-centered": "Put the finger in the middle of the reader"
            case "remove-finger": "Lift the finger first"
            case "general": "The finger could not be read"
            default: "The finger could not be read (\(Self.quoted(cause, limit: 40)))"
            }
        let left = attemptsLeft.map { " (tries left: \($0))" } ?? ""
        return wantsFinger ? "\(what); try again\(left)." : "\(what)."
    }

    /// Somebody else's words, between marks that they cannot end, and without gaps that would look
    /// like the end of a line.
    private static func quoted(_ text: String, limit: Int = 1_000) -> String {
        let marks: Set<Unicode.Scalar> = ["\"", "\u{201c}", "\u{201d}", "\u{201e}", "\u{ff02}"]
        var words = String.UnicodeScalarView()
        var isInGap = false
        for scalar in text.unicodeScalars {
            let isSpace = scalar.properties.generalCategory == .spaceSeparator
            if !isSpace || !isInGap { words.append(marks.contains(scalar) ? "'" : scalar) }
            isInGap = isSpace
        }
        return "\"" + TerminalLine(String(words), limit: limit).text + "\""
    }
}
