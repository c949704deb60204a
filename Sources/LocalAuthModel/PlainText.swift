// SPDX-License-Identifier: Apache-2.0

/// Text from outside on one line that shows what it is: whatever cannot be seen is left out, and
/// with it what ends a line or turns the order of what is read. At most so many bytes; `nil` when
/// nothing is left.
package func plainLine(_ text: String, limit: Int) -> String? {
    var line = String.UnicodeScalarView()
    var size = 0
    for scalar in text.unicodeScalars where scalar == " " || isVisible(scalar) {
        size += UTF8.width(scalar)
        guard size <= limit else { break }
        line.append(scalar)
    }
    guard line.contains(where: isVisible) else { return nil }
    return String(line)
}

/// The beginning of a text, on one line, without what could move a cursor, begin a line of its own
/// or turn the order of what is read; what is taken out leaves U+FFFD, and white space a space. At
/// most so many bytes. Honest text of any script stays as it is, right-to-left too.
package func harmlessText(_ text: String, limit: Int) -> String {
    var result = String.UnicodeScalarView()
    var size = 0
    var marks = 0
    for scalar in text.unicodeScalars {
        marks = isCombining(scalar) ? marks + 1 : 0
        // A tower of marks would hide what stands above and below it.
        guard marks <= 8 else { continue }
        let kept = harmless(scalar)
        size += UTF8.width(kept)
        guard size <= limit else { break }
        result.append(kept)
    }
    return String(result)
}

private func harmless(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator:
        scalar.properties.isWhitespace ? " " : "\u{fffd}"
    case .surrogate, .unassigned, .privateUse: "\u{fffd}"
    // The joiners are part of how some scripts are written, and the marks of direction only say
    // what a character beside them is.
    case .format:
        ["\u{200c}", "\u{200d}", "\u{200e}", "\u{200f}", "\u{61c}"].contains(scalar)
            ? scalar : "\u{fffd}"
    default: scalar
    }
}

private func isCombining(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
}
