// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// The time in which one piece of work on prints has the readers. It ends with the work, or when a
/// driver has kept it for too long: then the caller is answered and the next in line begins, and
/// the reader is left alone until its driver lets go.
@BusQueue final class ManagementTurn {
    typealias Ending = Result<Void, ManagementError>

    private let line: ReaderLine
    private let care: ReaderCare
    private let id: TurnID
    private let patience: DriverPatience
    private var held: Set<ReaderID> = []
    private var timer: PollExecutor.Token?
    private var task: Task<Void, Never>?
    private var ending: Ending?
    private let endings = Waiters()

    /// What comes next.
    enum Expectation {
        /// The driver does something that no person has a part in.
        case work
        /// The driver ends what was cancelled.
        case end
        /// A person touches the reader, or the disk is written, in their own time.
        case others
    }

    init(_ id: TurnID, in line: ReaderLine, care: ReaderCare, patience: DriverPatience) {
        self.id = id
        self.line = line
        self.care = care
        self.patience = patience
    }

    /// Runs the work; returns when it has ended, or when its turn is over all the same. Cancelling
    /// the task cancels the work.
    func run(
        _ work: @escaping @Sendable @BusQueue (ManagementTurn) async throws(ManagementError) -> Void
    ) async throws(ManagementError) {
        let task = BusQueue.task { () -> Void in
            do throws(ManagementError) {
                try await work(self)
                end(.success(()))
            } catch {
                end(.failure(error))
            }
            for reader in held { care.noteFree(reader) }
        }
        self.task = task
        await withTaskCancellationHandler {
            await endings.wait { ending != nil }
        } onCancel: {
            BusQueue.post { self.expect(.end) }
            task.cancel()
        }
        try ending?.get()
    }

    /// Whether it was given up: then nothing may be begun any more, for its caller has been told.
    var isOver: Bool { ending != nil }

    /// From now on the turn has this reader, until it says otherwise.
    func hold(_ reader: ReaderID) { held.insert(reader) }

    func letGo(of reader: ReaderID) {
        held.remove(reader)
        care.noteFree(reader)
    }

    /// From now on this is waited for.
    func expect(_ what: Expectation) {
        let limit: Duration? =
            switch what {
            case .work: patience.working
            case .end: patience.cancelling
            case .others: nil
            }
        setTimer(limit)
    }

    private func setTimer(_ limit: Duration?) {
        if let timer { BusQueue.executor.cancelTimer(timer) }
        timer = nil
        guard let limit, ending == nil else { return }
        timer = BusQueue.executor.after(limit) { [weak self] in
            BusQueue.assumeIsolated { self?.giveUp() }
        }
    }

    private func giveUp() {
        timer = nil
        task?.cancel()
        care.noteStuck(held)
        end(.failure(.evaluation(.biometryNotAvailable)))
    }

    private func end(_ result: Ending) {
        guard ending == nil else { return }
        setTimer(nil)
        ending = result
        line.leave(id)
        endings.resume()
    }
}
