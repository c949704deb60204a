// SPDX-License-Identifier: Apache-2.0

/// The name of a PAM service, which is also the name of its file: lower-case letters, digits, `-`,
/// `_` and `.`, beginning with a letter or digit.
///
/// PAM takes capital letters for small ones: two names of which one has them would be one service.
package struct PAMServiceName: Hashable, Sendable {
    package let rawValue: String

    package init?(_ text: String) {
        let bytes = text.utf8
        guard let first = bytes.first, Self.isAlphanumeric(first), bytes.count <= 64,
            bytes.allSatisfy({ Self.isAlphanumeric($0) || Self.marks.contains($0) })
        else { return nil }
        rawValue = text
    }

    private init(usual: Void) { rawValue = "localauth" }

    /// The one that comes with us.
    package static let usual = PAMServiceName(usual: ())

    private static let marks = Array("-_.".utf8)

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
