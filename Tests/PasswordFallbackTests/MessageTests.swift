// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import PasswordMessages
import Testing

@Suite struct `The messages about passwords` {
    static let texts: [PasswordText] = [
        PasswordText(.information, "Ihr Kennwort läuft in 3 Tagen ab."), PasswordText(.error, ""),
        PasswordText(.question(isEchoed: false), "Passcode: "),
        PasswordText(.question(isEchoed: true), "Gerät wählen (1-3): "),
        PasswordText(.information, "\u{1b}[2J\n\u{202e}x"),
    ]

    @Test func `come out as they went in`() {
        for report in Self.texts.map(PasswordReport.text)
            + PasswordVerdict.allCases.map(PasswordReport.verdict)
        {
            #expect(PasswordReport(message: report.message) == report)
        }
        for order in PasswordOrder.allCases {
            #expect(PasswordOrder(message: order.message) == order)
            #expect(order.message.count <= PasswordOrder.longestMessage)
        }
    }

    @Test func `are cut where they are too long, between characters`() throws {
        let text = String(repeating: "ä", count: 1_000)
        let message = PasswordReport.text(PasswordText(.error, "x" + text)).message
        #expect(message.count == PasswordReport.longestMessage - 1)
        #expect(
            PasswordReport(message: message)
                == .text(PasswordText(.error, "x" + text.prefix(255))))
    }

    static let hostile: [[UInt8]] = [
        [], [0], Array("v".utf8), Array("vx".utf8), Array("vcc".utf8), Array("v\0".utf8),
        Array("c".utf8), Array("Vc".utf8), Array("x text".utf8), Array("i\0".utf8),
        Array("i".utf8) + [0xff], Array("q".utf8) + [0xc3], Array("i".utf8) + [0xed, 0xa0, 0x80],
        Array("i".utf8) + [UInt8](repeating: 0x61, count: 513),
    ]

    @Test(arguments: hostile) func `are refused when they are none of ours`(message: [UInt8]) {
        #expect(PasswordReport(message: message) == nil)
    }

    @Test func `are a closed set`() {
        var reports = 0
        for first in UInt8.min ... .max {
            if PasswordReport(message: [first]) != nil { reports += 1 }
            if let order = PasswordOrder(message: [first]) { #expect(order == .entry) }
        }
        // The four kinds of text; a verdict has a second byte.
        #expect(reports == 4)
        let verdicts = (UInt8.min ... .max).count {
            PasswordReport(message: [UInt8(ascii: "v"), $0]) != nil
        }
        #expect(verdicts == PasswordVerdict.allCases.count)
        #expect(PasswordOrder(message: []) == nil)
        #expect(PasswordOrder(message: PasswordOrder.entry.message + [0]) == nil)
    }

    @Test(arguments: ["localauth", "a", "0", "x-y_z.1", String(repeating: "a", count: 64)])
    func `name services`(name: String) { #expect(PAMServiceName(name)?.rawValue == name) }

    @Test(arguments: [
        "", ".", "..", "-x", ".x", "_x", "a/b", "/etc/pam.d/x", "LocalAuth", "ä", "a b", "a\0",
        "a\n", String(repeating: "a", count: 65),
    ])
    func `name no service otherwise`(name: String) { #expect(PAMServiceName(name) == nil) }
}
