// SPDX-License-Identifier: Apache-2.0

internal import LocalAuthModel

/// The bytes of a user's trail: a magic word, then a serialised variant with the account and the
/// entries, newest first.
enum HistoryFile {
    /// Twice what the largest entries take.
    static let largestFile = 1 << 20

    private static let magic = Array("LAH1".utf8)
    /// User id, user name, and of each entry kind, time, the caller's user id, name and evidence,
    /// reason, policy, method, outcome and misses.
    private static let entryForm = "(stusssussu)"
    private static let form = "(usa\(entryForm))"

    static func bytes(of entries: [HistoryEntry], for account: Account) -> [UInt8] {
        let variant = VariantBuilder.tuple([
            .number(account.id.rawValue), .text(account.name.rawValue),
            .array(of: entryForm, entries.prefix(HistoryEntry.limit).map(tuple)),
        ])
        return magic + variant.bytes
    }

    private static func tuple(_ entry: HistoryEntry) -> VariantBuilder {
        .tuple([
            .text(entry.kind.rawValue), .large(entry.time), .number(entry.callerUser.rawValue),
            .text(entry.callerName), .text(entry.callerEvidence?.rawValue ?? ""),
            .text(entry.reason), .number(entry.policy), .text(entry.method),
            .text(entry.outcome), .number(entry.misses),
        ])
    }

    static func entries(
        from bytes: [UInt8], for account: Account
    ) throws(EntryFailure) -> [HistoryEntry] {
        guard bytes.starts(with: magic) else { throw .refused(.notAHistory) }
        guard let file = Variant(bytes.dropFirst(magic.count), type: form) else {
            throw .refused(.damagedHistory)
        }
        guard file[0].large == UInt64(account.id.rawValue),
            file[1].text.map({ $0.utf8.elementsEqual(account.name.rawValue.utf8) }) == true
        else { throw .refused(.otherAccount) }
        let list = file[2]
        guard list.count <= HistoryEntry.limit else { throw .refused(.damagedHistory) }
        var entries: [HistoryEntry] = []
        for index in 0..<list.count {
            guard let entry = entry(list[index]) else { throw .refused(.damagedHistory) }
            entries.append(entry)
        }
        return entries
    }

    private static func entry(_ tuple: borrowing Variant) -> HistoryEntry? {
        guard let kind = tuple[0].text.flatMap(HistoryEntry.Kind.init), let time = tuple[1].large,
            let user = tuple[2].large.flatMap({ UserID(UInt32(truncatingIfNeeded: $0)) }),
            let name = tuple[3].text, let evidence = tuple[4].text, let reason = tuple[5].text,
            let policy = tuple[6].large, let method = tuple[7].text,
            let outcome = tuple[8].text, let misses = tuple[9].large
        else { return nil }
        let program: CallerProgram?
        if let known = CallerProgram.Evidence(rawValue: evidence) {
            program = CallerProgram(name: name, evidence: known)
        } else {
            guard name.isEmpty, evidence.isEmpty else { return nil }
            program = nil
        }
        return HistoryEntry(
            kind, at: time, by: user, program: program, reason: reason,
            policy: UInt32(truncatingIfNeeded: policy), method: method, outcome: outcome,
            misses: UInt32(truncatingIfNeeded: misses))
    }
}
