// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LocalAuthModel
package import SystemSupport

/// The generation records on disk: a key file for each account that has or had prints, in
/// `generation/` below the state directory; and the machine's secret in the file `secret` there.
///
/// A record is named by user id *and* name, and says both, like a lockout record.
package actor GenerationStore: GenerationStoring {
    private static let largestFile = 4_096
    private static let secretName = "secret"
    private static let secretSize = 32

    private let stateDirectory: String
    private let executor: PollExecutor
    private let log: Log
    private var passedOver: PassedOver
    /// The secret, once it is known; also one that could not be written down.
    private var knownSecret: [UInt8]?

    private var directory: String { "\(stateDirectory)/generation" }

    /// `directory` is the daemon's state directory. It is made when it is needed.
    package init(directory: String, executor: PollExecutor, log: Log) {
        stateDirectory = directory
        self.executor = executor
        self.log = log
        passedOver = PassedOver(log: log, message: "state of enrolment unreadable, begun anew")
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    package func read(for account: Account) throws(StorageFailure) -> GenerationReading {
        let name = account.fileName
        var identity: FileIdentity?
        do throws(EntryFailure) {
            let records = try Directory.open(path: directory)
            identity = FileIdentity(try records.status(of: name))
            let bytes = try records.contents(of: name, limit: Self.largestFile)
            return .generation(try GenerationFile.generation(from: bytes, for: account))
        } catch .missing {
            return .none
        } catch {
            if error.isShortage { throw StorageFailure(error) }
            passedOver.report(
                error, path: "generation/\(name)", label: "generation of \(account.id.rawValue)",
                identity: identity)
            return .unreadable
        }
    }

    package func write(
        _ generation: Generation, for account: Account
    ) throws(StorageFailure) {
        do throws(EntryFailure) {
            let records = try Directory.open(path: directory, creating: true)
            try records.replace(
                account.fileName, with: GenerationFile.bytes(of: generation, for: account))
        } catch {
            throw StorageFailure(error)
        }
    }

    /// One that will not do is set aside as `damaged-secret`. One that cannot be kept serves as
    /// long as the daemon runs.
    ///
    /// - Throws: when there may be one, and it cannot be read now.
    package func secret() throws(StorageFailure) -> [UInt8] {
        if let knownSecret { return knownSecret }
        if let kept = try keptSecret() {
            knownSecret = kept
            return kept
        }
        let fresh = randomBytes(Self.secretSize)
        do throws(EntryFailure) {
            try Directory.open(path: stateDirectory, creating: true)
                .create(Self.secretName, with: fresh)
        } catch .failed(EEXIST) {
            // Another instance was faster.
            throw .io(EEXIST)
        } catch {
            log.warning("the machine's secret could not be kept", ["reason": error.reason])
        }
        knownSecret = fresh
        return fresh
    }

    /// The secret on the disk; `nil` when there is none, or none any more.
    private func keptSecret() throws(StorageFailure) -> [UInt8]? {
        let state: Directory
        do throws(EntryFailure) {
            state = try Directory.open(path: stateDirectory)
        } catch {
            // Where there is no such directory, there is no secret in it.
            if error.isShortage { throw StorageFailure(error) }
            return nil
        }
        var identity: FileIdentity?
        do throws(EntryFailure) {
            let status = try state.status(of: Self.secretName)
            identity = FileIdentity(status)
            if status.st_mode & (S_IRWXG | S_IRWXO) != 0, !status.isSymbolicLink {
                throw .refused(.readableByOthers)
            }
            let bytes = try state.contents(of: Self.secretName, limit: Self.secretSize)
            guard bytes.count == Self.secretSize else { throw .refused(.notASecret) }
            return bytes
        } catch .missing {
            return nil
        } catch .failed(let code) {
            throw .io(code)
        } catch {
            passedOver.report(
                error, path: Self.secretName, label: "the machine's secret", identity: identity)
        }
        do throws(EntryFailure) {
            try state.rename(Self.secretName, to: "damaged-\(Self.secretName)")
            return nil
        } catch {
            throw StorageFailure(error)
        }
    }
}
