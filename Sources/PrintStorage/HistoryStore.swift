// SPDX-License-Identifier: Apache-2.0

package import LocalAuthModel
package import SystemSupport

/// The users' trails on disk: a file for each account with entries, in `history/` below the state
/// directory.
///
/// A file is named by user id *and* name, and says both, so a user who is given the id of one who
/// left does not see that one's trail. A file that cannot be read counts as empty, with one log
/// line; the next write sets it aside as `damaged-NAME`, in place of an older one, for whoever wants
/// to know what happened to it.
package actor HistoryStore: HistoryStoring {
    private let directory: String
    private let executor: PollExecutor
    private var passedOver: PassedOver

    /// `directory` is the daemon's state directory. It is made when it is needed.
    package init(directory: String, executor: PollExecutor, log: Log) {
        self.directory = "\(directory)/history"
        self.executor = executor
        passedOver = PassedOver(log: log, message: "history unreadable, taken for empty")
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    package func history(of account: Account) -> [HistoryEntry] {
        do throws(EntryFailure) {
            return read(account, in: try Directory.open(path: directory)) ?? []
        } catch .missing {
            return []
        } catch {
            passedOver.report(error, path: "history", label: "every history", identity: nil)
            return []
        }
    }

    package func add(_ entries: [HistoryEntry], for account: Account) throws(StorageFailure) {
        let name = account.fileName
        do throws(EntryFailure) {
            let trails = try Directory.open(path: directory, creating: true)
            let older = read(account, in: trails)
            if older == nil { try? trails.rename(name, to: "damaged-\(name)") }
            let all = Array((entries + (older ?? [])).prefix(HistoryEntry.limit))
            try trails.replace(name, with: HistoryFile.bytes(of: all, for: account))
        } catch {
            throw StorageFailure(error)
        }
    }

    /// The entries that are there; `nil` when there is something that cannot be read.
    private func read(_ account: Account, in trails: borrowing Directory) -> [HistoryEntry]? {
        let name = account.fileName
        var identity: FileIdentity?
        do throws(EntryFailure) {
            identity = FileIdentity(try trails.status(of: name))
            let bytes = try trails.contents(of: name, limit: HistoryFile.largestFile)
            return try HistoryFile.entries(from: bytes, for: account)
        } catch .missing {
            return []
        } catch {
            passedOver.report(
                error, path: "history/\(name)", label: "history of \(account.id.rawValue)",
                identity: identity)
            return nil
        }
    }
}
