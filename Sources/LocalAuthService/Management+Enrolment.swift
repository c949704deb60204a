// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

extension Management {
    /// Enrols on a reader whose turn it is.
    func enrol(
        _ print: PrintID, on reader: ReaderDescription,
        progress: @escaping @Sendable @BusQueue (EnrolmentStage) -> Void
    ) async throws(ManagementError) {
        let older = try await stored(of: print.user, for: [reader.kind]).first { $0.id == print }
        let open = try await open(reader.id)
        let scan = EnrolmentScan(
            of: print, on: open, patience: services.patience, progress: progress)
        // Now the reader is open and the first touch can come.
        progress(EnrolmentStage(done: 0, total: reader.enrolmentStages, fault: nil))
        let failure: ManagementError?
        do throws(ManagementError) {
            let made = try await scan.run()
            try await save(made, on: open)
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
        await open.close()
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

/// The touches of one enrolment. Ends when the reader is content, when the task is cancelled, or
/// when nobody has touched the reader for too long.
@BusQueue private final class EnrolmentScan {
    private let print: PrintID
    private let open: any OpenReader
    private let patience: Duration
    private let progress: @Sendable @BusQueue (EnrolmentStage) -> Void
    private var scanning: Task<Result<StoredPrint, ReaderFailure>, Never>?
    private var timer: PollExecutor.Token?
    private var isTimedOut = false

    init(
        of print: PrintID, on open: any OpenReader, patience: Duration,
        progress: @escaping @Sendable @BusQueue (EnrolmentStage) -> Void
    ) {
        self.print = print
        self.open = open
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
        case .failure(.cancelled) where isTimedOut: throw .evaluation(.timeout)
        case .failure(.cancelled) where Task.isCancelled: throw .evaluation(.appCancel)
        case .failure(let failure): throw ManagementError(failure)
        }
    }

    private func note(_ stage: EnrolmentStage) {
        guard scanning != nil else { return }
        expectTouch()
        progress(stage)
    }

    private func expectTouch() {
        if let timer { BusQueue.executor.cancelTimer(timer) }
        timer = BusQueue.executor.after(patience) { [weak self] in
            BusQueue.assumeIsolated {
                self?.isTimedOut = true
                self?.scanning?.cancel()
            }
        }
    }
}
