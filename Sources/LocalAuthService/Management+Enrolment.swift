// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

extension Management {
    /// Enrols on a reader whose turn it is.
    func enrol(
        _ print: PrintID, on reader: ReaderDescription, in turn: ManagementTurn,
        progress: @escaping @Sendable @BusQueue (EnrolmentStage) -> Void
    ) async throws(ManagementError) {
        let older = try await stored(of: print.user, for: [reader.kind]).first { $0.id == print }
        let open = try await open(reader.id, in: turn)
        let scan = EnrolmentScan(
            of: print, on: open, reader.id, in: turn, patience: services.patience,
            progress: progress)
        self.scan = scan
        // Now the reader is open and the first touch can come.
        progress(EnrolmentStage(done: 0, total: reader.enrolmentStages, fault: nil))
        let failure: ManagementError?
        do throws(ManagementError) {
            let made = try await scan.run()
            turn.expect(.others)
            services.biometry.care.noteWork(of: reader.id)
            try await save(made, on: open)
            turn.expect(.work)
            // The older print of this finger is of no use any more; should it stay in the
            // reader's memory, it is in nobody's gallery.
            if let older, older.template != made.template,
                reader.features.contains(.storageDelete)
            {
                try? await open.delete(older)
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

    private func save(
        _ made: StoredPrint, on open: any OpenReader
    ) async throws(ManagementError) {
        do throws(StorageFailure) {
            try await services.prints.save(made)
        } catch {
            services.log.error("a print could not be saved", ["error": "\(error)"])
            // What is not on disk must not stay in the reader either.
            try? await open.delete(made)
            throw .storageFailed
        }
    }
}

/// The touches of one enrolment. Ends when the reader is content, when the task is cancelled, when
/// somebody ends it, or when nobody has touched the reader for too long.
@BusQueue final class EnrolmentScan {
    let reader: ReaderID
    private let print: PrintID
    private let open: any OpenReader
    private let turn: ManagementTurn
    private let patience: Duration
    private let progress: @Sendable @BusQueue (EnrolmentStage) -> Void
    private var scanning: Task<Result<StoredPrint, ReaderFailure>, Never>?
    private var timer: PollExecutor.Token?
    /// Why it was ended before the reader was content.
    private var ending: ManagementError?

    init(
        of print: PrintID, on open: any OpenReader, _ reader: ReaderID, in turn: ManagementTurn,
        patience: Duration, progress: @escaping @Sendable @BusQueue (EnrolmentStage) -> Void
    ) {
        self.print = print
        self.open = open
        self.reader = reader
        self.turn = turn
        self.patience = patience
        self.progress = progress
    }

    func run() async throws(ManagementError) -> StoredPrint {
        let (open, print) = (open, print)
        let scanning = BusQueue.task { () -> Result<StoredPrint, ReaderFailure> in
            do throws(ReaderFailure) {
                return .success(
                    try await open.enrol(print) { stage in BusQueue.post { self.note(stage) } })
            } catch {
                return .failure(error)
            }
        }
        self.scanning = scanning
        // From here to the next touch it is the person's time and not the driver's, unless it has
        // been cancelled already.
        if !Task.isCancelled { turn.expect(.others) }
        expectTouch()
        let result = await withTaskCancellationHandler {
            await scanning.value
        } onCancel: {
            scanning.cancel()
        }
        self.scanning = nil
        if let timer { BusQueue.executor.cancelTimer(timer) }
        switch result {
        case .success(let made): return made
        case .failure(.cancelled):
            throw ending ?? .evaluation(Task.isCancelled ? .appCancel : .systemCancel)
        case .failure(let failure): throw ManagementError(failure)
        }
    }

    /// Ends it early, for this reason.
    func end(_ error: ManagementError) {
        guard let scanning, ending == nil else { return }
        ending = error
        scanning.cancel()
        turn.expect(.end)
    }

    private func note(_ stage: EnrolmentStage) {
        guard scanning != nil else { return }
        expectTouch()
        progress(stage)
    }

    private func expectTouch() {
        if let timer { BusQueue.executor.cancelTimer(timer) }
        timer = BusQueue.executor.after(patience) { [weak self] in
            BusQueue.assumeIsolated { self?.end(.evaluation(.timeout)) }
        }
    }
}
