// SPDX-License-Identifier: Apache-2.0

import GLibBinding
import Testing

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }.joined()
}

private func digest(_ parts: [[UInt8]]) -> [UInt8] {
    var digest = Digest()
    for part in parts { digest.add(part) }
    return digest.finish()
}

private func digest(fields: [[UInt8]]) -> [UInt8] {
    var digest = Digest()
    for field in fields { digest.add(field: field) }
    return digest.finish()
}

private func code(_ key: [UInt8], fields: [[UInt8]]) -> [UInt8] {
    var code = MessageAuthentication(key: key)
    for field in fields { code.add(field: field) }
    return code.finish()
}

/// The texts and codes are those of FIPS 180-4 and RFC 4231.
@Suite struct `A digest` {
    private static let known: [(String, String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test(arguments: known) func `is a SHA-256`(text: String, expected: String) {
        #expect(hexadecimal(digest([Array(text.utf8)])) == expected)
        #expect(hexadecimal(digest(text.utf8.map { [$0] })) == expected)
    }

    private static let codes: [([UInt8], [UInt8], String)] = [
        (
            [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131),
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ]

    @Test(arguments: codes)
    func `with a key is an HMAC`(key: [UInt8], message: [UInt8], expected: String) {
        var code = MessageAuthentication(key: key)
        code.add(message)
        #expect(hexadecimal(code.finish()) == expected)
    }

    @Test func `of fields is another for every way to part them`() {
        let ways: [[[UInt8]]] = [
            [[1, 2, 3]], [[1], [2, 3]], [[1, 2], [3]], [[], [1, 2, 3]], [[1, 2, 3], []],
            [[1], [2], [3]], [], [[]],
        ]
        #expect(Set(ways.map { digest(fields: $0) }).count == ways.count)
        #expect(Set(ways.map { code([7], fields: $0) }).count == ways.count)
        #expect(code([7], fields: ways[0]) != code([8], fields: ways[0]))
    }
}
