// SPDX-License-Identifier: Apache-2.0

package import LocalAuthModel
internal import SystemSupport

extension PrintStore {
    /// Makes the directory if it is missing and watches it: who is new or gone in it is reported
    /// for everybody, what changes further down only for users who have been listed or loaded.
    /// Notices are taken together, one call a user; the store's own writes are reported too.
    ///
    /// Where this throws, the store can be used all the same, but reports nothing.
    package func start(changed: @escaping @Sendable (UserName?) -> Void) throws(StorageFailure) {
        do throws(EntryFailure) {
            let root = try Directory.open(path: directory, creating: true)
            var watch = try PrintWatch(rootName: rootName, log: log)
            _ = try watch.watchRoot(root)
            if let watchToken { executor.unwatch(watchToken) }
            watchToken = executor.watch(watch.rawValue, for: .input) { [weak self] _ in
                self?.assumeIsolated { $0.takeNotices() }
            }
            self.watch = consume watch
            self.changed = changed
        } catch {
            throw StorageFailure(error)
        }
    }

    /// Takes in what has happened until now, and tells of it.
    func takeNotices() {
        guard let changes = watch?.changes() else { return }
        let isOtherRoot = changes.isRootMoved && restoreRootWatch()
        if changes.isAnybody || isOtherRoot {
            changed?(nil)
        } else {
            for user in changes.users { changed?(user) }
        }
    }

    /// Watches the root that is there now, should it not be the one that was watched: made anew,
    /// say, or mounted over. Gives whether there is such another.
    ///
    /// Where there is none its parent is watched. To make it here would be in the way of an
    /// administrator who is putting another in its place.
    func restoreRootWatch() -> Bool {
        guard watch != nil else { return false }
        do throws(EntryFailure) {
            do throws(EntryFailure) {
                return try watchRoot()
            } catch .missing {
                // Before the second look, so that it cannot come unseen.
                try watch?.watchParent(Directory.parent(of: directory))
                return try watchRoot()
            }
        } catch .missing {
            return false
        } catch {
            passedOver.report(error, path: "", label: "the directory of all users", identity: nil)
            return false
        }
    }

    private func watchRoot() throws(EntryFailure) -> Bool {
        try watch?.watchRoot(Directory.open(path: directory)) ?? false
    }

    private var rootName: String { directory.split(separator: "/").last.map(String.init) ?? "" }
}
