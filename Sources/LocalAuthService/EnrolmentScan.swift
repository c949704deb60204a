// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// The touches of one enrolment. Ends when the reader is content, when the task is cancelled, when
/// somebody ends it, or when nobody has touched the reader for too long.
@BusQueue final class EnrolmentScan {
    /// So many touches of one finger may be no good before it is taken to be the reader's fault.
    private static let badScansAllowed = 30

    let reader: ReaderID
    private let print: PrintID
    private let open: any OpenReader
    private let turn: ManagementTurn
    private let patience: Duration
    private let progress: @Sendable @BusQueue (EnrolmentStage) -> Void
    /// How many touches the reader wants, and how many have gone before those.
    private var total: UInt32
    private var before: UInt32 = 0
    private var cancel: (() -> Void)?
    private var timer: PollExecutor.Token?
    /// Why it was ended before the reader was content.
    private var ending: ManagementError?

    init(
        of print: PrintID, on open: any OpenReader, _ reader: ReaderDescription,
        in turn: ManagementTurn, patience: Duration,
        progress: @escaping @Sendable @BusQueue (EnrolmentStage) -> Void
    ) {
        self.print = print
        self.open = open
        self.reader = reader.id
        total = reader.enrolmentStages
        self.turn = turn
        self.patience = patience
        self.progress = progress
    }

    /// Tells that the reader is open and the first touch can come.
    /// - Parameter more: how many touches come before those that the reader wants.
    func announce(_ more: UInt32) {
        progress(EnrolmentStage(done: 0, total: total + more, fault: nil))
    }

    /// Takes one good touch to see whose finger it is.
    func recognise(among known: [StoredPrint]) async throws(ManagementError) -> Recognition {
        let open = open
        for _ in 0..<Self.badScansAllowed {
            let recognition = try await whileTouched { () throws(ReaderFailure) in
                try await open.recognise(among: known)
            }
            guard case .badScan(let cause) = recognition else {
                before = 1
                return recognition
            }
            progress(EnrolmentStage(done: 0, total: total + 1, fault: cause))
            // So that the finger can be lifted.
            await BusQueue.sleep(.milliseconds(100))
        }
        throw .enrollmentFailed
    }

    /// Makes the print.
    func run() async throws(ManagementError) -> StoredPrint {
        let (open, print) = (open, print)
        if before > 0 { progress(EnrolmentStage(done: before, total: total + before, fault: nil)) }
        return try await whileTouched { () throws(ReaderFailure) in
            try await open.enrol(print) { stage in BusQueue.post { self.note(stage) } }
        }
    }

    /// Ends it early, for this reason.
    func end(_ error: ManagementError) {
        guard ending == nil else { return }
        ending = error
        guard let cancel else { return }
        cancel()
        turn.expect(.end)
    }

    /// Has the reader do something that takes a person's touch.
    private func whileTouched<T: Sendable>(
        _ work: @escaping @Sendable @BusQueue () async throws(ReaderFailure) -> T
    ) async throws(ManagementError) -> T {
        if let ending { throw ending }
        let task = BusQueue.task { () -> Result<T, ReaderFailure> in
            do throws(ReaderFailure) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }
        cancel = { task.cancel() }
        // From here to the next touch it is the person's time and not the driver's, unless it has
        // been cancelled already.
        if !Task.isCancelled { turn.expect(.others) }
        expectTouch()
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        cancel = nil
        if let timer { BusQueue.executor.cancelTimer(timer) }
        switch result {
        case .success(let value): return value
        case .failure(.cancelled):
            throw ending ?? .evaluation(Task.isCancelled ? .appCancel : .systemCancel)
        case .failure(let failure): throw ManagementError(failure)
        }
    }

    private func note(_ stage: EnrolmentStage) {
        guard cancel != nil else { return }
        expectTouch()
        progress(
            EnrolmentStage(
                done: stage.done + before, total: stage.total + before, fault: stage.fault))
    }

    private func expectTouch() {
        if let timer { BusQueue.executor.cancelTimer(timer) }
        timer = BusQueue.executor.after(patience) { [weak self] in
            BusQueue.assumeIsolated { self?.end(.evaluation(.timeout)) }
        }
    }
}
