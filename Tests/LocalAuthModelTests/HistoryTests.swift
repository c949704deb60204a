// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

@Suite struct `An entry of a history` {
    private func entry(
        program: CallerProgram? = nil, reason: String = "", outcome: String = "success"
    ) -> HistoryEntry {
        HistoryEntry(
            .evaluate, at: 1, by: .root, program: program, reason: reason, outcome: outcome)
    }

    @Test(arguments: [
        ("open the safe", "open the safe"), ("שלום abc", "שלום abc"), ("e\u{301}", "e\u{301}"),
        ("a\nb\u{1b}[31m\0", "a b\u{fffd}[31m\u{fffd}"),
        ("\u{202e}x\u{2066}\u{2028}\u{200b}", "\u{fffd}x\u{fffd} \u{fffd}"),
        ("\u{915}\u{94d}\u{200d}\u{937}", "\u{915}\u{94d}\u{200d}\u{937}"),
    ]) func `holds nothing that could deceive`(text: String, kept: String) {
        let entry = entry(
            program: CallerProgram(name: text, evidence: .unverified), reason: text, outcome: text)
        for shown in [entry.reason, entry.callerName, entry.outcome] {
            #expect(Array(shown.unicodeScalars) == Array(kept.unicodeScalars))
        }
    }

    @Test(arguments: ["x", "é", "\u{1f446}", "\n", "x\u{301}"])
    func `holds the beginning of what is too long`(unit: String) {
        let text = String(repeating: unit, count: 5_000)
        let entry = entry(
            program: CallerProgram(name: text, evidence: .label), reason: text, outcome: text)
        #expect(
            (HistoryEntry.longestReason - 3...HistoryEntry.longestReason)
                .contains(entry.reason.utf8.count))
        for shown in [entry.callerName, entry.outcome] {
            #expect(
                (HistoryEntry.longestText - 3...HistoryEntry.longestText)
                    .contains(shown.utf8.count))
        }
    }

    @Test func `vouches for no program without a name`() {
        #expect(entry(program: CallerProgram(name: "", evidence: .sandbox)).callerEvidence == nil)
        #expect(entry().callerEvidence == nil)
        #expect(
            entry(program: CallerProgram(name: "a", evidence: .sandbox)).callerEvidence == .sandbox)
    }
}
