// SPDX-License-Identifier: Apache-2.0

internal import GLibBinding
internal import LocalAuthModel

extension PrintListing {
    /// The listing of these prints.
    init(_ prints: [StoredPrint], unseen: UInt64) {
        var digest = Digest()
        digest.add(field: Array("LocalAuth prints 1".utf8))
        for print in prints.sorted(by: { $0.id.place.lexicographicallyPrecedes($1.id.place) }) {
            digest.add(field: Array(print.id.reader.driver.utf8))
            digest.add(field: Array(print.id.reader.deviceID.utf8))
            digest.add([print.id.finger.rawValue])
            digest.add(field: print.template)
        }
        self.init(prints: prints.map(\.id), digest: digest.finish(), unseen: unseen)
    }
}

extension PrintID {
    /// Where it is among the user's prints. No two have the same, because the names are of files
    /// and have no slash in them.
    fileprivate var place: [UInt8] {
        Array("\(reader.driver)/\(reader.deviceID)/\(finger.fileName)".utf8)
    }
}
