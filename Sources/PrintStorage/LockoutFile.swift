// SPDX-License-Identifier: Apache-2.0

internal import LocalAuthModel
internal import GLibBinding
internal import SystemSupport

/// The text of a lockout record's file.
enum LockoutFile {
    private static let group = "Lockout"

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
}
