// SPDX-License-Identifier: Apache-2.0

/// One line that may be shown on a terminal.
///
/// Whatever came over the bus or from the command line, it cannot move the cursor, begin a line of
/// its own, or turn the order of what is read: control characters (C0, C1, DEL), bidirectional
/// controls, other invisible format characters and line separators are replaced, and marks that
/// are piled up higher than any script piles them are left out. Honest text of any script stays
/// as it is.
struct TerminalLine: Equatable {
    let text: String

    /// Of more, only the beginning is shown.
    static let limit = 2_000

    /// The longest known pile is Tibetan and has eight marks.
    private static let highestPile = 10

    init(_ raw: String, limit: Int = TerminalLine.limit) {
        var line = String.UnicodeScalarView()
        var pile = 0
        for (count, scalar) in raw.unicodeScalars.enumerated() {
            guard count < limit else {
                line.append("\u{2026}")
                break
            }
            pile = Self.isMark(scalar) ? pile + 1 : Self.isJoiner(scalar) ? pile : 0
            guard pile <= Self.highestPile else { continue }
            line.append(Self.isHarmless(scalar) ? scalar : "\u{fffd}")
        }
        text = String(line)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        case .format: isJoiner(scalar)
        default: true
        }
    }

    /// The joiners are part of how some scripts are written.
    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{200c}" || scalar == "\u{200d}"
    }
}
