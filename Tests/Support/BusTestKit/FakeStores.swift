// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import LocalAuthModel

/// Prints in memory.
@BusQueue package final class FakePrints: PrintStoring {
    package var prints: [StoredPrint]
    /// What every call fails with.
    package var failure: StorageFailure?
    /// What only saving fails with.
    package var saveFailure: StorageFailure?
    /// Runs while a list is being read.
    package var whileListing: (() -> Void)?
    package private(set) var lists = 0
    /// What came and went without being listed.
    package var unseen: UInt64 = 0
    private var changed: (@Sendable (UserName?) -> Void)?

    package nonisolated init(_ prints: [StoredPrint] = []) { self.prints = prints }

    @BusQueue package func start(
        changed: @escaping @Sendable (UserName?) -> Void
    ) async throws(StorageFailure) { self.changed = changed }

    @BusQueue package func list(of user: UserName) async throws(StorageFailure) -> PrintListing {
        lists += 1
        if let failure { throw failure }
        let found = prints.filter { $0.id.user == user }
        // As good as a digest here: no two of the tests' sets of prints have the same.
        let digest = found.map { [$0.id.finger.rawValue] + $0.template }
            .sorted { $0.lexicographicallyPrecedes($1) }
        let listing = PrintListing(
            prints: found.map(\.id), digest: digest.flatMap { $0 }, unseen: unseen)
        whileListing?()
        return listing
    }

    @BusQueue package func load(
        of user: UserName, for readers: Set<ReaderKind>
    ) async throws(StorageFailure) -> [StoredPrint] {
        if let failure { throw failure }
        return prints.filter { $0.id.user == user && readers.contains($0.id.reader) }
    }

    @BusQueue package func load(
        for reader: ReaderKind
    ) async throws(StorageFailure) -> [StoredPrint] {
        if let failure { throw failure }
        return prints.filter { $0.id.reader == reader }
    }

    @BusQueue package func save(_ print: StoredPrint) async throws(StorageFailure) {
        if let failure = failure ?? saveFailure { throw failure }
        prints.removeAll { $0.id == print.id }
        prints.append(print)
    }

    @BusQueue package func delete(_ print: PrintID) async throws(StorageFailure) {
        if let failure { throw failure }
        guard prints.contains(where: { $0.id == print }) else { throw .notFound }
        prints.removeAll { $0.id == print }
    }

    /// Another program has changed something.
    package func announceChange(of user: UserName?) { changed?(user) }
}

/// Lockout records in memory, which can be told to fail or to take their time.
@BusQueue package final class FakeLockouts: LockoutStoring {
    package var readings: [Account: LockoutReading] = [:]
    package var failure: StorageFailure?
    /// Whether writes wait for `finishWrite`.
    package var isSlow = false
    package let writes = Journal<LockoutRecord>()
    package private(set) var reads = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package nonisolated init() {}

    @BusQueue package func read(for account: Account) async -> LockoutReading {
        reads += 1
        return readings[account] ?? .none
    }

    @BusQueue package func write(
        _ record: LockoutRecord, for account: Account
    ) async throws(StorageFailure) {
        writes.add(record)
        if isSlow { await withCheckedContinuation { waiting.append($0) } }
        if let failure { throw failure }
        readings[account] = .record(record)
    }

    /// Lets the oldest write that waits be done.
    package func finishWrite() {
        if !waiting.isEmpty { waiting.removeFirst().resume() }
    }
}

/// Trails in memory, which can be told to fail or to take their time.
@BusQueue package final class FakeHistories: HistoryStoring {
    package var trails: [Account: [HistoryEntry]] = [:]
    package var failure: StorageFailure?
    /// Whether writes wait for `finishWrite`.
    package var isSlow = false
    /// What each write was given.
    package let writes = Journal<[HistoryEntry]>()
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package nonisolated init() {}

    @BusQueue package func history(of account: Account) async -> [HistoryEntry] {
        trails[account] ?? []
    }

    @BusQueue package func add(
        _ entries: [HistoryEntry], for account: Account
    ) async throws(StorageFailure) {
        writes.add(entries)
        if isSlow { await withCheckedContinuation { waiting.append($0) } }
        if let failure { throw failure }
        trails[account] = Array((entries + (trails[account] ?? [])).prefix(HistoryEntry.limit))
    }

    /// Lets the oldest write that waits be done.
    package func finishWrite() {
        if !waiting.isEmpty { waiting.removeFirst().resume() }
    }
}

/// Generation records in memory, which can be told to fail or to take their time.
@BusQueue package final class FakeGenerations: GenerationStoring {
    package var readings: [Account: GenerationReading] = [:]
    package var readFailure: StorageFailure?
    package var writeFailure: StorageFailure?
    package var secretFailure: StorageFailure?
    package var key: [UInt8] = [UInt8](repeating: 7, count: 32)
    /// Whether writes wait for `finishWrite`.
    package var isSlow = false
    package let writes = Journal<Generation>()
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package nonisolated init() {}

    @BusQueue package func read(
        for account: Account
    ) async throws(StorageFailure) -> GenerationReading {
        if let readFailure { throw readFailure }
        return readings[account] ?? .none
    }

    @BusQueue package func write(
        _ generation: Generation, for account: Account
    ) async throws(StorageFailure) {
        writes.add(generation)
        if isSlow { await withCheckedContinuation { waiting.append($0) } }
        if let writeFailure { throw writeFailure }
        readings[account] = .generation(generation)
    }

    @BusQueue package func secret() async throws(StorageFailure) -> [UInt8] {
        if let secretFailure { throw secretFailure }
        return key
    }

    /// Lets the oldest write that waits be done.
    package func finishWrite() {
        if !waiting.isEmpty { waiting.removeFirst().resume() }
    }
}
