// SPDX-License-Identifier: Apache-2.0

/// One line that may be shown on a terminal.
///
/// Whatever came over the bus or from the command line, it cannot move the cursor, begin a line of
/// its own, or turn the order of what is read: control characters (C0, C1, DEL), bidirectional
/// controls, other invisible format characters and line separators are replaced. Honest text of
/// any script stays as it is.
struct TerminalLine: Equatable {
    let text: String

    /// Of more, only the beginning is shown.
    static let limit = 2_000

    init(_ raw: String) {
        var line = String.UnicodeScalarView()
        for (count, scalar) in raw.unicodeScalars.enumerated() {
            guard count < Self.limit else {
                line.append("\u{2026}")
                break
            }
            line.append(Self.isHarmless(scalar) ? scalar : "\u{fffd}")
        }
        text = String(line)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        // The joiners are part of how some scripts are written.
        case .format: scalar == "\u{200c}" || scalar == "\u{200d}"
        default: true
        }
    }
}
