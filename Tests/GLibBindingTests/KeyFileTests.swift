// SPDX-License-Identifier: Apache-2.0

import GLibBinding
import Testing

@Suite struct `A key file` {
    @Test func `is read by group and key`() throws {
        let file = try KeyFile(parsing: "# note\n[A]\nx=1\n y = two words \n\n[B]\nx=\n")
        #expect(file["A", "x"] == "1")
        #expect(file["A", "y"]?.hasPrefix("two words") == true)
        #expect(file["B", "x"] == "")
        #expect(file["B", "y"] == nil)
        #expect(file["C", "x"] == nil)
        #expect(Set(file.groups.keys) == ["A", "B"])
    }

    @Test func `may be empty`() throws {
        #expect(try KeyFile(parsing: "").groups.isEmpty)
        #expect(KeyFile().text.isEmpty)
    }

    @Test func `lets the later entry win`() throws {
        let file = try KeyFile(parsing: "[A]\nx=1\nx=2\n[B]\ny=1\n[A]\nx=3\n")
        #expect(file["A", "x"] == "3")
        #expect(file["B", "y"] == "1")
    }

    @Test func `is written in alphabetical order`() {
        var file = KeyFile()
        file["B", "b"] = "1"
        file["B", "a"] = "2"
        file["A", "z"] = "3"
        #expect(file.text == "[A]\nz=3\n\n[B]\na=2\nb=1\n")
        file["B", "a"] = nil
        #expect(file["B", "a"] == nil)
    }

    @Test(arguments: [
        "", " ", "plain", " lead", "trail ", "\ttab\t", "a=b", "[x]", "#x", "back\\slash",
        "two\nlines",
        "semi;colon", "é", "e\u{301}", "\u{202e}", "\u{7f}", "\r", "\\n",
    ]) func `gives back any value`(value: String) throws {
        var file = KeyFile()
        file["G", "k"] = value
        let read = try KeyFile(parsing: file.text)
        #expect(read["G", "k"].map { Array($0.utf8) } == Array(value.utf8))
    }

    @Test(arguments: ["x", "x=1", "[A", "[A]\nnonsense", "[A]\n=1", "[]\nx=1", "\0", "[A]\nx=\\q"])
    func `is not any text`(text: String) {
        #expect(throws: KeyFile.Failure.self) { try KeyFile(parsing: text) }
    }

    @Test func `is not read past a NUL`() {
        #expect(throws: KeyFile.Failure.self) { try KeyFile(parsing: "[A]\nx=1\0\ny=2\n") }
    }
}
