// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

@Suite struct `A reason` {
    @Test(arguments: [
        "open the safe", " x ", ".", "\u{5d4}\u{5db}\u{5e1}\u{5e4}\u{5ea}",
        "\u{627}\u{644}\u{62e}\u{632}\u{646}\u{629}", "\u{1f512}", "e\u{301}", "\u{301}",
        "\u{202e}evil", "<b>bold</b>", "Password:\n\n\n", "\u{fffd}", "\u{e000}",
        "\u{5d0} \u{2066}latin\u{2069}", "👨‍👩‍👧", "\u{1b}[31mred",
    ])
    func `is anything in which something can be seen, kept as it is`(text: String) throws {
        #expect(try Reason(text).text == text)
    }

    @Test(arguments: [
        "", " ", "\t\n\r ", "\u{a0}", "\u{3000}", "\u{200b}", "\u{200b}\u{200d}", "\u{2066}",
        "\u{202e}\u{202c}", "\u{feff}", "\u{ad}", "\u{0}", "\u{7}\u{1b}", "\u{2028}\u{2029}",
        "\u{fffe}", "\u{ffff}", "\u{10ffff}", "\u{115f}", "\u{3164}", "\u{fe0f}", "\u{e0001}",
        "\u{34f}", "\u{61c}", "\u{378}",
    ])
    func `is nothing in which nothing can be seen`(text: String) {
        #expect(throws: Reason.Failure.empty) { try Reason(text) }
    }

    @Test(arguments: [("x", 1_024), ("\u{5d4}", 512), ("\u{1f512}", 256)])
    func `has at most 1024 bytes`(character: String, count: Int) throws {
        let longest = String(repeating: character, count: count)
        #expect(try Reason(longest).text.utf8.count == 1_024)
        #expect(throws: Reason.Failure.tooLong) { try Reason(longest + "x") }
        #expect(throws: Reason.Failure.tooLong) {
            try Reason(String(repeating: " ", count: 1_025))
        }
    }

    @Test func `is counted in bytes, not in what looks like a character`() {
        let marks = "x" + String(repeating: "\u{301}", count: 5_000)
        #expect(marks.count == 1)
        #expect(throws: Reason.Failure.tooLong) { try Reason(marks) }
    }
}

@Suite struct `A line of text from outside` {
    @Test(arguments: [
        ("safe", "safe"), ("two words", "two words"), ("a\nb\r\u{2028}c", "abc"),
        ("\u{1b}[31mred", "[31mred"), ("\u{202e}gnp\u{2066}.exe\u{61c}", "gnp.exe"),
        ("\u{5db}\u{5e1}\u{5e4}", "\u{5db}\u{5e1}\u{5e4}"), ("\u{fffe}\u{0}x\u{7f}", "x"),
    ])
    func `shows only what can be seen`(text: String, line: String) {
        #expect(plainLine(text, limit: 100) == line)
    }

    @Test func `is nothing when nothing can be seen, and has its limit in bytes`() {
        for text in ["", " ", "\n", "\u{202e}", "\u{200b} "] {
            #expect(plainLine(text, limit: 100) == nil)
        }
        #expect(plainLine("12345", limit: 5) == "12345")
        #expect(plainLine("123456", limit: 5) == "12345")
        // Never half a character of UTF-8.
        #expect(plainLine("1234\u{e9}", limit: 5) == "1234")
        #expect(plainLine("\u{1f512}", limit: 3) == nil)
    }
}

@Suite struct `A text that may be shown` {
    @Test(arguments: [
        ("open the safe", "open the safe"), ("<b>&amp;</b>", "<b>&amp;</b>"),
        ("a\n\n\nPassword:\tb", "a   Password: b"),
        ("\u{1b}[2J\u{7f}\u{9b}", "\u{fffd}[2J\u{fffd}\u{fffd}"),
        ("\u{202e}gnp\u{2066}.exe", "\u{fffd}gnp\u{fffd}.exe"), ("\u{fffe}", "\u{fffd}"),
        (
            "\u{5e9}\u{5b8}\u{5dc}\u{5d5}\u{5b9}\u{5dd} abc",
            "\u{5e9}\u{5b8}\u{5dc}\u{5d5}\u{5b9}\u{5dd} abc"
        ),
        ("\u{5d0}!\u{200f} \u{61c}\u{200e}", "\u{5d0}!\u{200f} \u{61c}\u{200e}"), ("👨‍👩‍👧", "👨‍👩‍👧"),
    ])
    func `has nothing that could deceive, and of honest text everything`(
        text: String, shown: String
    ) {
        #expect(Array(harmlessText(text, limit: 100).utf8) == Array(shown.utf8))
    }

    @Test func `has no towers of marks, and its limit in bytes`() {
        let tower = "x" + String(repeating: "\u{301}", count: 500) + "y"
        #expect(harmlessText(tower, limit: 2_000).unicodeScalars.count == 10)
        #expect(harmlessText("12345\u{e9}", limit: 6) == "12345")
    }
}

@Suite struct `A name that becomes a file name` {
    private static let good: [String] = [
        "alice", "a", "..a", "...", "-rf", "with space", "\u{e9}", ".hidden",
        String(repeating: "n", count: 255),
    ]
    private static let bad: [String] = [
        "", ".", "..", "/", "a/b", "../root", "a\u{0}b", "\u{0}", "alice/",
        String(repeating: "n", count: 256), String(repeating: "\u{e9}", count: 128),
        // `/` with a mark on it is one character to Swift, and still a slash to the kernel.
        "a/\u{301}b",
    ]

    @Test func `is told from others by its bytes`() throws {
        let composed = try #require(UserName("j\u{fc}rgen"))
        let decomposed = try #require(UserName("ju\u{308}rgen"))
        #expect(composed.rawValue == decomposed.rawValue)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
    }

    @Test(arguments: good) func `names one entry of a directory`(text: String) throws {
        #expect(UserName(text)?.rawValue == text)
        let kind = try #require(ReaderKind(driver: text, deviceID: text))
        #expect(kind.driver == text)
        #expect(kind.deviceID == text)
    }

    @Test(arguments: bad) func `names nothing else`(text: String) {
        #expect(UserName(text) == nil)
        #expect(ReaderKind(driver: text, deviceID: "x") == nil)
        #expect(ReaderKind(driver: "x", deviceID: text) == nil)
    }
}

@Suite struct `A finger` {
    @Test(arguments: Finger.allCases) func `has a name both ways`(finger: Finger) {
        #expect(Finger(wireName: finger.wireName) == finger)
        #expect(Finger(rawValue: finger.rawValue) == finger)
    }

    @Test func `has the names and numbers of fprintd`() {
        #expect(
            Finger.allCases.map(\.wireName) == [
                "left-thumb", "left-index-finger", "left-middle-finger", "left-ring-finger",
                "left-little-finger", "right-thumb", "right-index-finger", "right-middle-finger",
                "right-ring-finger", "right-little-finger",
            ])
        #expect(Finger.allCases.map(\.rawValue) == Array(1...10))
    }

    @Test(arguments: [
        "", "any", "left-index", "Left-thumb", "left-thumb ", "leftIndex", "right-toe",
    ])
    func `has no other name`(name: String) { #expect(Finger(wireName: name) == nil) }
}

@Suite struct `A user id` {
    @Test(arguments: [UInt32(0), 1, 1_000, 4_000_000_000, UInt32.max - 1])
    func `is any number of the kernel's`(number: UInt32) {
        #expect(UserID(number)?.rawValue == number)
        #expect(UserID(number)?.isRoot == (number == 0))
    }

    @Test func `is not the number for nobody`() { #expect(UserID(.max) == nil) }

    @Test func `of root is zero`() { #expect(UserID.root.rawValue == 0) }
}

@Suite struct `A boot id` {
    @Test func `is the kernel's`() {
        #expect(BootID("c4c2a2b0-6d1f-4c31-9e0e-0123456789ab") != nil)
    }

    @Test(arguments: [
        "", "C4", "g", "a b", "a\nb", "a/b", String(repeating: "a", count: 65), "\u{e9}",
    ])
    func `is nothing else`(text: String) { #expect(BootID(text) == nil) }
}

@Suite struct `A print` {
    @Test func `does not show its template`() {
        let print = StoredPrint(id: .sample, template: [0x73, 0x65, 0x63])
        #expect("\(print)" == "StoredPrint(right-index-finger)")
        #expect(String(describing: print).contains("115") == false)
    }
}
