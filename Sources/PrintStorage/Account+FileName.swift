// SPDX-License-Identifier: Apache-2.0

internal import GLibBinding
internal import LocalAuthModel
internal import SystemSupport

extension Account {
    /// The name of a file about this account: `UID-NAME`. A name that is long, or has anything but
    /// letters, digits and `._-` in it, is replaced by its SHA-256 after a `=`, which no plain name
    /// has.
    var fileName: String {
        let name = name.rawValue
        let isPlain =
            name.utf8.count <= 128
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        return "\(id.rawValue)-" + (isPlain ? name : "=" + digest(of: name))
    }
}

private func digest(of text: String) -> String {
    var digest = Digest()
    digest.add(Array(text.utf8))
    return hexadecimal(digest.finish())
}
