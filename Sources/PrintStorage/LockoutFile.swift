// SPDX-License-Identifier: Apache-2.0

internal import CGLib
internal import LocalAuthModel
internal import GLibBinding
internal import SystemSupport

/// The name and the text of a lockout record's file.
enum LockoutFile {
    private static let group = "Lockout"

    /// `UID-NAME`. A name that is long, or has anything but letters, digits and `._-` in it,
    /// is replaced by its SHA-256 after a `=`, which no plain name has.
    static func name(for account: Account) -> String {
        let name = account.name.rawValue
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
        return "\(account.id.rawValue)-" + (isPlain ? name : "=" + digest(of: name))
    }

    static func bytes(of record: LockoutRecord, for account: Account) -> [UInt8] {
        var file = KeyFile()
        file[group, "User"] = account.name.rawValue
        file[group, "Uid"] = String(account.id.rawValue)
        file[group, "Misses"] = String(record.misses)
        file[group, "Total"] = String(record.total)
        if let locked = record.locked {
            file[group, "LockedAt"] = String(locked.at.microseconds)
            file[group, "Boot"] = locked.boot.rawValue
        }
        return Array(file.text.utf8)
    }

    static func record(
        from bytes: [UInt8], for account: Account
    ) throws(EntryFailure) -> LockoutRecord {
        guard let text = String(validating: bytes, as: UTF8.self),
            let file = try? KeyFile(parsing: text), let user = file[group, "User"],
            let uid: UInt32 = number(file, "Uid"), let misses: UInt32 = number(file, "Misses"),
            let total: UInt32 = number(file, "Total")
        else { throw .refused(.notARecord) }
        guard user.utf8.elementsEqual(account.name.rawValue.utf8), uid == account.id.rawValue
        else { throw .refused(.otherAccount) }
        var record = LockoutRecord(misses: misses, total: total, locked: nil)
        if file[group, "LockedAt"] != nil || file[group, "Boot"] != nil {
            guard let at: UInt64 = number(file, "LockedAt"),
                let boot = file[group, "Boot"].flatMap(BootID.init)
            else { throw .refused(.notARecord) }
            record.locked = LockoutRecord.Locked(at: BootTime(microseconds: at), boot: boot)
        }
        return record
    }

    /// Digits only: Swift would also take a sign.
    private static func number<Number: FixedWidthInteger>(
        _ file: KeyFile, _ key: String
    ) -> Number? {
        guard let text = file[group, key],
            text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        else { return nil }
        return Number(text)
    }

    private static func digest(of text: String) -> String {
        let length = gssize(text.utf8.count)
        // SAFETY: the result is ours and copied before it is freed.
        guard let digest = unsafe g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, length)
        else { return "" }
        defer { unsafe g_free(digest) }
        return unsafe String(cString: digest)
    }
}
