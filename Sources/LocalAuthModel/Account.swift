// SPDX-License-Identifier: Apache-2.0

/// A user id as the kernel counts it: unsigned, 32 bits.
package struct UserID: Hashable, Sendable {
    package let rawValue: UInt32

    /// Refuses `UInt32.max`, which the kernel uses for "no user".
    package init?(_ rawValue: UInt32) {
        guard rawValue != .max else { return nil }
        self.rawValue = rawValue
    }

    private init(root: Void) { rawValue = 0 }

    package static let root = UserID(root: ())

    package var isRoot: Bool { rawValue == 0 }
}

/// An account's name. Exists only in a form that is also a safe file name, because prints are
/// filed under it.
package struct UserName: Hashable, Sendable {
    package let rawValue: String

    package init?(_ text: String) {
        guard isSafeFileName(text) else { return nil }
        rawValue = text
    }

    // By its bytes, as the kernel tells files apart: two texts that are one to Swift, with
    // letters composed in another way, can be two accounts.
    package static func == (a: Self, b: Self) -> Bool {
        a.rawValue.utf8.elementsEqual(b.rawValue.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(byte) }
    }
}

/// One user of the machine: the number that the kernel knows and the name that files are kept by.
package struct Account: Hashable, Sendable {
    package let id: UserID
    package let name: UserName

    package init(id: UserID, name: UserName) {
        self.id = id
        self.name = name
    }
}

/// Whether `text` names exactly one entry of a directory: not empty, at most 255 bytes
/// (`NAME_MAX`), no slash, no NUL, neither `.` nor `..`.
func isSafeFileName(_ text: String) -> Bool {
    let bytes = text.utf8
    return !bytes.isEmpty && bytes.count <= 255 && text != "." && text != ".."
        && !bytes.contains(UInt8(ascii: "/")) && !bytes.contains(0)
}
