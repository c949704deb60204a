// SPDX-License-Identifier: Apache-2.0

internal import GLibBinding
internal import LocalAuthModel
internal import SystemSupport

/// The text of a generation record's file.
enum GenerationFile {
    private static let group = "Generation"

    static func bytes(of generation: Generation, for account: Account) -> [UInt8] {
        var file = KeyFile()
        file[group, "User"] = account.name.rawValue
        file[group, "Uid"] = String(account.id.rawValue)
        file[group, "Nonce"] = hexadecimal(generation.nonce)
        file[group, "Prints"] = hexadecimal(generation.digest)
        return Array(file.text.utf8)
    }

    static func generation(
        from bytes: [UInt8], for account: Account
    ) throws(EntryFailure) -> Generation {
        guard let text = String(validating: bytes, as: UTF8.self),
            let file = try? KeyFile(parsing: text), let user = file[group, "User"],
            let uid = file[group, "Uid"],
            let nonce = self.bytes(file, "Nonce", count: Generation.nonceSize),
            let digest = self.bytes(file, "Prints", count: Digest.size)
        else { throw .refused(.notAGeneration) }
        guard user.utf8.elementsEqual(account.name.rawValue.utf8),
            uid == String(account.id.rawValue)
        else { throw .refused(.otherAccount) }
        return Generation(nonce: nonce, digest: digest)
    }

    /// In the one form in which they are written, and no other.
    private static func bytes(_ file: KeyFile, _ key: String, count: Int) -> [UInt8]? {
        guard let text = file[group, key], let bytes = [UInt8](hexadecimal: text),
            bytes.count == count, hexadecimal(bytes) == text
        else { return nil }
        return bytes
    }
}
