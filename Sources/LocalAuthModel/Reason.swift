// SPDX-License-Identifier: Apache-2.0

/// The caller's words for why it asks. Exists only when there is something to read in it.
package struct Reason: Hashable, Sendable {
    /// Why a text is no reason.
    package enum Failure: Error, Hashable, Sendable { case empty, tooLong }

    /// At most so many bytes of UTF-8.
    package static let limit = 1024

    package let text: String

    private init(own text: String) { self.text = text }

    /// The service's own words.
    package static let enrolment = Reason(own: "enrol a finger")
    package static let deletion = Reason(own: "delete fingers")

    /// The words as they may be shown: plain, and on one line.
    package var shown: String { harmlessText(text, limit: Self.limit) }

    package init(_ text: String) throws(Failure) {
        guard text.utf8.count <= Self.limit else { throw .tooLong }
        guard text.unicodeScalars.contains(where: isVisible) else { throw .empty }
        self.text = text
    }
}

/// Whether a character can be seen: no white space, control, format or other ignorable one.
func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    guard !properties.isWhitespace, !properties.isDefaultIgnorableCodePoint else { return false }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .unassigned,
        .surrogate:
        return false
    default: return true
    }
}
