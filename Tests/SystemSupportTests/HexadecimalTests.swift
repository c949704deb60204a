// SPDX-License-Identifier: Apache-2.0

import SystemSupport
import Testing

@Suite struct `Hexadecimal digits` {
    @Test(
        arguments: [([], ""), ([0, 9, 10, 255], "00090aff"), ([0x7f], "7f")] as [([UInt8], String)])
    func `stand for bytes, both ways`(bytes: [UInt8], digits: String) {
        #expect(hexadecimal(bytes) == digits)
        #expect([UInt8](hexadecimal: digits) == bytes)
        #expect([UInt8](hexadecimal: digits.uppercased()) == bytes)
    }

    @Test(arguments: [
        "0", "000", "0g", "-1", "+1", " 00", "0x00", "00\n", "\u{e9}", "٠٠", "\u{0}0",
    ])
    func `are nothing else`(text: String) { #expect([UInt8](hexadecimal: text) == nil) }
}

@Suite struct `Random bytes` {
    @Test func `are as many as wanted, and never the same`() {
        #expect(randomBytes(0) == [])
        #expect(Set((0..<100).map { _ in randomBytes(16) }).count == 100)
        #expect(randomBytes(32).count == 32)
    }
}
