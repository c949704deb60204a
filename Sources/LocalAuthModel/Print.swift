// SPDX-License-Identifier: Apache-2.0

/// Which print: whose, of which finger, for which reader. There is at most one such.
package struct PrintID: Hashable, Sendable {
    package let user: UserName
    package let reader: ReaderKind
    package let finger: Finger

    package init(user: UserName, reader: ReaderKind, finger: Finger) {
        self.user = user
        self.reader = reader
        self.finger = finger
    }
}

/// One enrolled print with its template, in libfprint's serialised form.
///
/// Never logged and never sent: it has no description of its own, and nothing prints `template`.
package struct StoredPrint: Hashable, Sendable, CustomStringConvertible {
    package let id: PrintID
    package let template: [UInt8]

    package init(id: PrintID, template: [UInt8]) {
        self.id = id
        self.template = template
    }

    package var description: String { "StoredPrint(\(id.finger.wireName))" }
}

/// Why prints or records could not be read or written.
package enum StorageFailure: Error, Hashable, Sendable {
    /// The named entry is not there.
    case notFound
    /// The disk, its space or its permissions; the number is `errno`.
    case io(Int32)
}
