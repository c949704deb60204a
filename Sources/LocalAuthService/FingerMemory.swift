// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// Remembers which finger each user used last: people mostly use the same one, and matching takes
/// time for each print that is compared.
@BusQueue final class FingerMemory {
    private var last: [UserName: PrintID] = [:]

    func remember(_ print: PrintID) { last[print.user] = print }

    /// The finger used last first, then in the order of the fingers.
    func sort(_ gallery: [StoredPrint]) -> [StoredPrint] {
        gallery.sorted { a, b in
            let isLast = (last[a.id.user] == a.id, last[b.id.user] == b.id)
            guard isLast.0 == isLast.1 else { return isLast.0 }
            return a.id.finger.rawValue < b.id.finger.rawValue
        }
    }
}
