// SPDX-License-Identifier: Apache-2.0

/// A state of a user's enrolment. Each change of it makes another generation, and none comes back:
/// a finger that is added and removed again leaves another one behind.
package struct Generation: Hashable, Sendable {
    package static let nonceSize = 16

    /// Random: what tells generations with the same prints apart.
    package let nonce: [UInt8]
    /// The listing's digest of the prints that there were.
    package let digest: [UInt8]

    package init(nonce: [UInt8], digest: [UInt8]) {
        self.nonce = nonce
        self.digest = digest
    }

    /// That of a user who has never had a print; it needs no record.
    package static func unenrolled(_ digest: [UInt8]) -> Generation {
        Generation(nonce: [UInt8](repeating: 0, count: nonceSize), digest: digest)
    }
}

/// What a look at a user's generation record gave.
package enum GenerationReading: Hashable, Sendable {
    case none
    case generation(Generation)
    /// There is something, but it cannot be read or understood.
    case unreadable
}

/// The generation records on disk, kept by user id *and* name, and the machine's secret.
package protocol GenerationStoring: Sendable {
    /// - Throws: when the machine is short of something; asked later, it can be another answer.
    func read(for account: Account) async throws(StorageFailure) -> GenerationReading
    /// Atomic and durable.
    func write(_ generation: Generation, for account: Account) async throws(StorageFailure)
    /// 32 random bytes that nobody but this machine's root knows, made when they are first asked
    /// for.
    func secret() async throws(StorageFailure) -> [UInt8]
}
