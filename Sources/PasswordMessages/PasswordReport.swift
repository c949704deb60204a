// SPDX-License-Identifier: Apache-2.0

package import LocalAuthModel

/// What the program that checks passwords tells the daemon.
///
/// A message is a byte that says what it is, and behind it the text in UTF-8, or the verdict's byte.
package enum PasswordReport: Hashable, Sendable {
    /// Something to be shown. A question is answered with the next `PasswordOrder.entry`.
    case text(PasswordText)
    /// The end. Exactly one comes, and nothing behind it.
    case verdict(PasswordVerdict)

    /// The longest text in bytes, as PAM has it (`PAM_MAX_MSG_SIZE`).
    package static let longestText = 512
    /// No message is longer.
    package static let longestMessage = 1 + longestText

    /// A text that is too long is cut.
    package var message: [UInt8] {
        switch self {
        case .text(let text): [Self.mark(of: text.kind)] + Self.cut(text.text)
        case .verdict(let verdict): [Self.verdictMark, Self.byte(of: verdict)]
        }
    }

    /// `nil` for everything that `message` cannot have given.
    package init?(message: [UInt8]) {
        guard let mark = message.first, message.count <= Self.longestMessage else { return nil }
        let rest = message.dropFirst()
        if mark == Self.verdictMark {
            guard rest.count == 1,
                let verdict = PasswordVerdict.allCases.first(where: {
                    Self.byte(of: $0) == rest.first
                })
            else { return nil }
            self = .verdict(verdict)
            return
        }
        guard let kind = Self.kinds.first(where: { Self.mark(of: $0) == mark }), !rest.contains(0),
            let text = String(validating: rest, as: UTF8.self)
        else { return nil }
        self = .text(PasswordText(kind, text))
    }

    private static let verdictMark = UInt8(ascii: "v")

    private static let kinds: [PasswordText.Kind] = [
        .information, .error, .question(isEchoed: false), .question(isEchoed: true),
    ]

    private static func mark(of kind: PasswordText.Kind) -> UInt8 {
        switch kind {
        case .information: UInt8(ascii: "i")
        case .error: UInt8(ascii: "e")
        case .question(isEchoed: false): UInt8(ascii: "q")
        case .question(isEchoed: true): UInt8(ascii: "Q")
        }
    }

    private static func byte(of verdict: PasswordVerdict) -> UInt8 {
        switch verdict {
        case .correct: UInt8(ascii: "c")
        case .wrong: UInt8(ascii: "w")
        case .empty: UInt8(ascii: "e")
        case .triesUsedUp: UInt8(ascii: "t")
        case .accountUnavailable: UInt8(ascii: "a")
        case .notSet: UInt8(ascii: "n")
        case .unavailable: UInt8(ascii: "u")
        }
    }

    /// As much of the text as fits, in whole characters (scalars).
    private static func cut(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            guard bytes.count + UTF8.width(scalar) <= longestText else { break }
            bytes += Array(String(scalar).utf8)
        }
        return bytes
    }
}
