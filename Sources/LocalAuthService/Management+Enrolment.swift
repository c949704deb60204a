// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

extension Management {
    /// Enrols on a reader whose turn it is.
    func enrol(
        _ print: PrintID, on reader: ReaderDescription, discardingLeftovers: Bool,
        in turn: ManagementTurn, progress: @escaping @Sendable @BusQueue (EnrolmentStage) -> Void
    ) async throws(ManagementError) {
        let known = try await knownPrints(on: reader, of: print.user)
        let open = try await open(reader.id, in: turn)
        let scan = EnrolmentScan(
            of: print, on: open, reader, in: turn, patience: services.patience, progress: progress)
        self.scan = scan
        let failure: ManagementError?
        do throws(ManagementError) {
            let memory = ReaderMemory(open, of: print.user, known: known, in: turn, services.log)
            if discardingLeftovers { try await memory.discardLeftovers() }
            let isCompared = mustCompare(print, with: known, on: reader)
            scan.announce(isCompared ? 1 : 0)
            if isCompared {
                try await memory.requireNew(
                    try await scan.recognise(among: known), as: print,
                    discardingLeftovers: discardingLeftovers)
            }
            let made = try await memory.explaining { () throws(ManagementError) in
                try await scan.run()
            }
            services.biometry.care.noteWork(of: reader.id)
            turn.expect(.others)
            try await save(made, on: open)
            services.biometry.noteGain(of: print, on: reader.id)
            turn.expect(.work)
            if let older = known.first(where: { $0.id == print }), older.template != made.template,
                reader.features.contains(.storageDelete)
            {
                await delete(older, from: open)
            }
            failure = nil
        } catch {
            failure = error
        }
        if self.scan === scan { self.scan = nil }
        await close(open, reader.id, in: turn)
        await services.biometry.prints.refresh(print.user)
        if let failure { throw failure }
    }

    /// The prints that a finger must not have already: the user's own, and on a reader that
    /// matches in its own memory everybody's. Such a reader answers with the first print of a
    /// finger that it finds, so that a finger which two users have could be no longer the one's.
    private func knownPrints(
        on reader: ReaderDescription, of user: UserName
    ) async throws(ManagementError) -> [StoredPrint] {
        reader.features.contains(.storage)
            ? try await stored(for: reader.kind)
            : try await stored(of: user, for: [reader.kind])
    }

    /// Whether the finger has to be compared first, which takes a touch more: only where the reader
    /// does not do that itself, and has a print that the finger could have besides the one that is
    /// replaced.
    private func mustCompare(
        _ print: PrintID, with known: [StoredPrint], on reader: ReaderDescription
    ) -> Bool {
        reader.features.contains(.identify) && !reader.features.contains(.duplicatesCheck)
            && known.contains { $0.id != print }
    }

    private func save(
        _ made: StoredPrint, on open: any OpenReader
    ) async throws(ManagementError) {
        do throws(StorageFailure) {
            try await services.prints.save(made)
        } catch {
            services.log.error("a print could not be saved", ["error": "\(error)"])
            // What is not on disk must not stay in the reader either.
            await delete(made, from: open)
            throw .storageFailed
        }
    }

    /// Deletes what nobody will look for any more. Should it stay in the reader's memory, it is in
    /// nobody's gallery, and a leftover.
    private func delete(_ print: StoredPrint, from open: any OpenReader) async {
        do throws(ReaderFailure) {
            try await open.delete(print)
        } catch {
            guard error != .notOnReader else { return }
            services.log.warning(
                "a print of no use stays in the reader's memory", ["failure": "\(error)"])
        }
    }
}
