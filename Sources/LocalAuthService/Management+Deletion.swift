// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

extension Management {
    /// Deletes prints when it is our turn; all of the user's when no finger is named.
    func delete(
        _ fingers: Set<Finger>, of account: Account, in turn: ManagementTurn
    ) async throws(ManagementError) {
        guard let listed = await services.biometry.prints.prints(of: account.name) else {
            throw .storageFailed
        }
        let doomed = listed.filter { fingers.isEmpty || fingers.contains($0.finger) }
        guard fingers.isSubset(of: doomed.map(\.finger)) else { throw .noSuchFinger }
        let failure: ManagementError?
        do throws(ManagementError) {
            // The reader's copy first: one that is only in a reader could not be found again.
            try await deleteFromReaders(doomed, of: account, in: turn)
            try await deleteFromDisk(doomed)
            failure = nil
        } catch {
            failure = error
        }
        await services.biometry.prints.refresh(account.name)
        if let failure { throw failure }
        services.log.notice(
            "fingers deleted",
            ["uid": "\(account.id.rawValue)", "prints": "\(doomed.count)"], id: .fingersChanged)
    }

    private func deleteFromReaders(
        _ doomed: [PrintID], of account: Account, in turn: ManagementTurn
    ) async throws(ManagementError) {
        let prints = try await stored(of: account.name, for: Set(doomed.map(\.reader)))
            .filter { doomed.contains($0.id) }
        for reader in services.biometry.readers.readers
        where reader.features.contains(.storageDelete) {
            let here = prints.filter { $0.id.reader == reader.kind }
            if !here.isEmpty { try await delete(here, from: reader.id, in: turn) }
        }
    }

    private func delete(
        _ prints: [StoredPrint], from reader: ReaderID, in turn: ManagementTurn
    ) async throws(ManagementError) {
        let open = try await open(reader, in: turn)
        var failure: ReaderFailure?
        for print in prints where failure == nil {
            turn.expect(.work)
            do throws(ReaderFailure) {
                try await open.delete(print)
            } catch {
                // What the reader does not have need not be deleted.
                failure = error == .notOnReader ? nil : error
            }
        }
        await close(open, reader, in: turn)
        guard let failure else { return }
        services.log.warning(
            "a print could not be deleted from the reader", ["failure": "\(failure)"])
        throw failure == .io ? .storageFailed : ManagementError(failure)
    }

    func deleteFromDisk(_ doomed: [PrintID]) async throws(ManagementError) {
        for print in doomed {
            do throws(StorageFailure) {
                try await services.prints.delete(print)
            } catch {
                guard error != .notFound else { continue }
                services.log.error("a print could not be deleted", ["error": "\(error)"])
                throw .storageFailed
            }
        }
    }
}
