// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// Which prints each user has, kept in memory, so that answering a question never touches the
/// disk; unless the store cannot tell of changes, for then memory would be wrong for good.
@BusQueue final class PrintIndex {
    /// What is known of a user's prints.
    struct Look: Hashable {
        let listing: PrintListing
        /// Counts the differences that there were since the first look at them, also those that
        /// are undone by now.
        let turn: UInt64
    }

    /// Called when a user's prints are different now, or were for a while.
    var onChange: ((UserName) -> Void)?
    /// Whether the store tells of changes.
    var isTold = true

    private let store: any PrintStoring
    private let log: Log
    private var entries: [UserName: Look] = [:]
    /// What was found last, if anything could be.
    private var last: [UserName: Look] = [:]
    /// The users that were looked at; the look may have failed.
    private var known: Set<UserName> = []
    /// Whose prints are about to be read again.
    private var planned: Set<UserName> = []
    // Count the changes that have been heard of.
    private var changes: [UserName: UInt64] = [:]
    private var allChanges: UInt64 = 0

    init(store: any PrintStoring, log: Log) {
        self.store = store
        self.log = log
    }

    /// The user's prints; `nil` when they could not be looked up, which is not the same as none.
    func prints(of user: UserName) async -> [PrintID]? { await look(at: user)?.listing.prints }

    /// The user's prints, and how often they have changed.
    func look(at user: UserName) async -> Look? {
        if isTold, let look = entries[user] { return look }
        return await load(user)
    }

    /// The user's prints may have changed; `nil`: anybody's may.
    func noteChange(of user: UserName?) {
        if let user {
            changes[user, default: 0] += 1
        } else {
            allChanges += 1
        }
        for name in known where user == nil || name == user {
            // One that has not begun yet finds this change too.
            guard planned.insert(name).inserted else { continue }
            BusQueue.task {
                planned.remove(name)
                await load(name)
            }
        }
    }

    /// Reads the user's prints again after a change of our own, so that what is asked next finds
    /// it.
    func refresh(_ user: UserName) async {
        changes[user, default: 0] += 1
        await load(user)
    }

    /// Reads until nothing has changed while reading.
    @discardableResult
    private func load(_ user: UserName) async -> Look? {
        // Bounded: a directory that never rests must not keep us busy.
        for _ in 0..<10 {
            let before = changes(of: user)
            do throws(StorageFailure) {
                keep(try await store.list(of: user), of: user)
                if changes(of: user) == before { break }
            } catch {
                keep(nil, of: user)
                log.warning("the prints could not be listed", ["error": "\(error)"])
                return nil
            }
        }
        return entries[user]
    }

    /// Keeps what was found last, and tells when it is something else than before. The first
    /// look at a user's prints is no change.
    private func keep(_ listing: PrintListing?, of user: UserName) {
        let isFirst = known.insert(user).inserted
        let before = entries[user]
        entries[user] = listing.map { look(at: $0, after: last[user]) }
        last[user] = entries[user] ?? last[user]
        if !isFirst, entries[user] != before { onChange?(user) }
    }

    private func look(at listing: PrintListing, after last: Look?) -> Look {
        guard let last else { return Look(listing: listing, turn: 0) }
        let isSame = last.listing.digest == listing.digest && last.listing.unseen == listing.unseen
        // The order in which they were found is no difference.
        return isSame ? last : Look(listing: listing, turn: last.turn + 1)
    }

    private func changes(of user: UserName) -> UInt64 { changes[user, default: 0] &+ allChanges }
}
