// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import localauthctl

@Suite struct `A terminal line` {
    @Test(
        arguments: [
            "", "plain text", "Überraschung, naïve", "שלום abc", "مرحبا", "日本語", "👆🏽", "e\u{301}",
            "\u{915}\u{94d}\u{200d}\u{937}", "\u{feff0}",
        ])
    func `shows honest text as it is`(text: String) {
        #expect(Array(TerminalLine(text).text.unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test(
        arguments: [
            ("\u{1b}[31mred\u{1b}[0m", "\u{fffd}[31mred\u{fffd}[0m"),
            ("\u{1b}]0;title\u{7}", "\u{fffd}]0;title\u{fffd}"),
            ("a\nb\r\nc\td\0e\u{8}f", "a\u{fffd}b\u{fffd}\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}f"),
            ("\u{7f}\u{80}\u{9b}31m", "\u{fffd}\u{fffd}\u{fffd}31m"),
            ("a\u{202e}b\u{202c}", "a\u{fffd}b\u{fffd}"),
            ("\u{2028}\u{2029}", "\u{fffd}\u{fffd}"),
            ("\u{200b}\u{feff}\u{ad}\u{e0041}", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        ])
    func `never controls the terminal`(text: String, shown: String) {
        #expect(Array(TerminalLine(text).text.unicodeScalars) == Array(shown.unicodeScalars))
    }

    @Test func `holds no control character whatever comes`() {
        for value: UInt32 in 0...0xff {
            guard let scalar = Unicode.Scalar(value), value < 0x20 || (0x7f...0x9f).contains(value)
            else { continue }
            #expect(TerminalLine(String(scalar)).text == "\u{fffd}")
        }
    }

    @Test(arguments: Array(0x202a...0x202e) + Array(0x2066...0x2069) + [0x61c, 0x200e, 0x200f])
    func `holds no bidirectional control`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(TerminalLine("a\(scalar)").text == "a\u{fffd}")
    }

    @Test func `is cut when it is absurdly long`() {
        let text = TerminalLine(String(repeating: "e\u{301}", count: 5_000)).text
        #expect(text.unicodeScalars.count == TerminalLine.limit + 1)
        #expect(text.unicodeScalars.last == "\u{2026}")
    }

    @Test func `has no pile of marks that is higher than any script's`() {
        let highest = "\u{f67}\u{f90}\u{fb5}\u{fa8}\u{fb3}\u{fba}\u{fbc}\u{fbb}\u{f82}"
        #expect(Array(TerminalLine(highest).text.unicodeScalars) == Array(highest.unicodeScalars))
        let pile = String(repeating: "\u{301}", count: 5_000)
        #expect(TerminalLine("e\(pile)x").text.unicodeScalars.count <= TerminalLine.limit)
        #expect(
            TerminalLine("e\(String(repeating: "\u{301}", count: 50))x").text.unicodeScalars.count
                == 12)
        let joined = String(repeating: "\u{301}\u{200d}", count: 50)
        let marks = TerminalLine("e\(joined)").text.unicodeScalars.count { $0 == "\u{301}" }
        #expect(marks == 10)
    }
}
