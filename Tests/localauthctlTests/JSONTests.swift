// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import Testing

@testable import localauthctl

@Suite struct `A JSON value` {
    @Test(
        arguments: [
            (.null, "null"),
            (.bool(true), "true"),
            (.bool(false), "false"),
            (.integer(.min), "-9223372036854775808"),
            (.unsigned(.max), "18446744073709551615"),
            (.double(0.5), "0.5"),
            (.double(1e300), "1e+300"),
            (.double(.nan), "null"),
            (.double(-.infinity), "null"),
            (.array([]), "[]"),
            (.object([]), "{}"),
            (.strings(["a", "b"]), #"["a","b"]"#),
            (.members(["b": "x", "a": .array([.null, false])]), #"{"b":"x","a":[null,false]}"#),
            (.members(["\"\n": .null]), #"{"\"\u000a":null}"#),
        ] as [(JSON, String)])
    func `is written on one line in the given order`(value: JSON, text: String) {
        #expect(value.text == text)
    }

    @Test(
        arguments: [
            ("", #""""#),
            ("plain text ~", #""plain text ~""#),
            (#"a"b\c/"#, #""a\"b\\c/""#),
            ("\0\u{1}\t\n\r\u{1b}[31m\u{7f}", #""\u0000\u0001\u0009\u000a\u000d\u001b[31m\u007f""#),
            ("\u{85}\u{9b}", #""\u0085\u009b""#),
            ("\u{202e}\u{2066}\u{2028}\u{feff}", #""\u202e\u2066\u2028\ufeff""#),
            ("é", #""\u00e9""#),
            ("e\u{301}", #""e\u0301""#),
            ("שלום", #""\u05e9\u05dc\u05d5\u05dd""#),
            ("👆", #""\ud83d\udc46""#),
            ("\r\n", #""\u000d\u000a""#),
            ("\u{fffe}\u{10ffff}", #""\ufffe\udbff\udfff""#),
        ])
    func `escapes everything but printable ASCII`(text: String, quoted: String) {
        #expect(JSON.string(text).text == quoted)
    }

    @Test(
        arguments: [
            (.byte(7), "7"), (.bool(true), "true"), (.int16(-1), "-1"), (.uint16(1), "1"),
            (.int32(-2), "-2"), (.uint32(2), "2"), (.int64(-3), "-3"), (.uint64(3), "3"),
            (.double(1.5), "1.5"), (.string("s"), #""s""#), (.objectPath("/p"), #""/p""#),
            (.signature("a{sv}"), #""a{sv}""#), (.bytes([0, 10, 255]), #""000aff""#),
            (.strings(["a"]), #"["a"]"#), (.strings([]), "[]"),
            (.structure([.byte(1), .string("x")]), #"[1,"x"]"#),
            (.variant(.variant(.uint32(4))), "4"),
            (
                .array(of: "{sv}", [.entry(.string("k"), .variant(.bool(false)))]),
                #"{"k":false}"#
            ),
            (.array(of: "{uv}", [.entry(.uint32(1), .variant(.string("x")))]), #"{"1":"x"}"#),
            (.array(of: "{sv}", []), "{}"),
        ] as [(BusValue, String)])
    func `holds any D-Bus value`(value: BusValue, text: String) {
        #expect(JSON(value).text == text)
    }
}
