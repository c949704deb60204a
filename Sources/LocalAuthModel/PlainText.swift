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
