// SPDX-License-Identifier: Apache-2.0

/// Which usable prints a user has.
package struct PrintListing: Hashable, Sendable {
    package var prints: [PrintID]
    /// Stands for the prints and all that is in them, in whatever order they were found: no other
    /// set of prints has the same.
    package var digest: [UInt8]
    /// Counts what may have come and gone again without ever being in a listing, since the store
    /// began to watch.
    package var unseen: UInt64

    package init(prints: [PrintID], digest: [UInt8], unseen: UInt64 = 0) {
        self.prints = prints
        self.digest = digest
        self.unseen = unseen
    }
}

/// The prints on disk.
package protocol PrintStoring: Sendable {
    /// Begins to watch the directory. `changed` is called with a user whose prints may have
    /// changed, by us or by another program, or with `nil` when that could be anybody's.
    func start(changed: @escaping @Sendable (UserName?) -> Void) async throws(StorageFailure)
    /// Which usable prints a user has. Damaged, foreign and hostile files are passed over with
    /// one log line each, and left where they are. Watches this user's files from now on, and has
    /// taken in whatever happened to them before.
    func list(of user: UserName) async throws(StorageFailure) -> PrintListing
    /// The user's prints for the given kinds of reader, in no order.
    func load(
        of user: UserName, for readers: Set<ReaderKind>
    ) async throws(StorageFailure) -> [StoredPrint]
    /// Everybody's prints for one kind of reader, in no order.
    func load(for reader: ReaderKind) async throws(StorageFailure) -> [StoredPrint]
    /// Writes atomically and durably; an older print with the same id is replaced.
    func save(_ print: StoredPrint) async throws(StorageFailure)
    /// Removes the file. `.notFound` when there is none.
    func delete(_ print: PrintID) async throws(StorageFailure)
}

/// What a look at a user's lockout record gave.
package enum LockoutReading: Hashable, Sendable {
    case none
    case record(LockoutRecord)
    /// There is something, but it cannot be read or understood. It counts as locked.
    case unreadable
}

/// The lockout records on disk, kept by user id *and* name.
package protocol LockoutStoring: Sendable {
    func read(for account: Account) async -> LockoutReading
    /// Atomic and durable: when this returns, a crash cannot take it back.
    func write(_ record: LockoutRecord, for account: Account) async throws(StorageFailure)
}
