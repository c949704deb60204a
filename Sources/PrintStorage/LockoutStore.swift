// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LocalAuthModel
package import SystemSupport

/// The lockout records on disk: a key file for each account with misses, in `lockout/` below the
/// state directory. A record that is clear has no file.
///
/// A file is named by user id *and* name. So a user who is given the id of one who left does not
/// inherit the misses. An account that root renames begins anew, which only root can do. Where
/// two names share an id, each has its own count; callers cannot choose between them, because
/// their name is looked up from their id.
package actor LockoutStore: LockoutStoring {
    private static let largestFile = 4_096

    private let directory: String
    private let executor: PollExecutor
    private var passedOver: PassedOver

    /// `directory` is the daemon's state directory. It is made when it is needed.
    package init(directory: String, executor: PollExecutor, log: Log) {
        self.directory = "\(directory)/lockout"
        self.executor = executor
        passedOver = PassedOver(log: log, message: "lockout record unreadable, user locked")
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    package func read(for account: Account) -> LockoutReading {
        let name = account.fileName
        var identity: FileIdentity?
        do throws(EntryFailure) {
            let records = try Directory.open(path: directory)
            identity = FileIdentity(try records.status(of: name))
            let bytes = try records.contents(of: name, limit: Self.largestFile)
            return .record(try LockoutFile.record(from: bytes, for: account))
        } catch .missing {
            return .none
        } catch {
            passedOver.report(
                error, path: "lockout/\(name)", label: "lockout of \(account.id.rawValue)",
                identity: identity)
            return .unreadable
        }
    }

    package func write(
        _ record: LockoutRecord, for account: Account
    ) throws(StorageFailure) {
        let name = account.fileName
        do throws(EntryFailure) {
            if record.isClear {
                try Directory.open(path: directory).remove(name)
            } else {
                let records = try Directory.open(path: directory, creating: true)
                try records.replace(name, with: LockoutFile.bytes(of: record, for: account))
            }
        } catch .missing where record.isClear {
            // Nothing there is what was to be written.
        } catch {
            throw StorageFailure(error)
        }
    }
}
