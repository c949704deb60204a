// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// Which prints each user has, kept in memory, so that answering a question never touches the
/// disk; unless the store cannot tell of changes, for then memory would be wrong for good.
@BusQueue final class PrintIndex {
    /// Called when a user's prints are different now.
    var onChange: (() -> Void)?
    /// Whether the store tells of changes.
    var isTold = true

    private let store: any PrintStoring
    private let log: Log
    private var entries: [UserName: [PrintID]] = [:]
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
    func prints(of user: UserName) async -> [PrintID]? {
        if isTold, let prints = entries[user] { return prints }
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
    private func load(_ user: UserName) async -> [PrintID]? {
        // Bounded: a directory that never rests must not keep us busy.
        for _ in 0..<10 {
            let before = generation(of: user)
            do throws(StorageFailure) {
                keep(try await store.list(of: user), of: user)
                if generation(of: user) == before { break }
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
    private func keep(_ prints: [PrintID]?, of user: UserName) {
        let isKnown = known.contains(user)
        let isOther = entries[user].map(Set.init) != prints.map(Set.init)
        known.insert(user)
        entries[user] = prints
        if isKnown, isOther { onChange?() }
    }

    private func generation(of user: UserName) -> UInt64 { changes[user, default: 0] &+ allChanges }
}
