// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// Names one thing that wants the readers.
struct TurnID: Hashable, Sendable { let number: UInt64 }

/// Gives the readers to one after the other.
@BusQueue final class ReaderLine {
    private var line = WaitingLine<TurnID>()
    private var begin: [TurnID: () -> Void] = [:]
    private var arrivals: [TurnID: CheckedContinuation<Void, Never>] = [:]
    private var last: UInt64 = 0

    func makeID() -> TurnID {
        last += 1
        return TurnID(number: last)
    }

    var isEmpty: Bool { line.isEmpty }

    /// Joins the line; `begin` is called, once, when the turn has come: maybe at once. False
    /// when the line is full.
    func join(_ id: TurnID, user: UserID, begin: @escaping () -> Void) -> Bool {
        guard line.join(id, user: user) else { return false }
        if line.first == id { begin() } else { self.begin[id] = begin }
        return true
    }

    /// Leaves the line from wherever it stands; the next one begins when it was the first.
    func leave(_ id: TurnID) {
        let wasFirst = line.first == id
        line.leave(id)
        begin[id] = nil
        guard wasFirst, let next = line.first, let begin = begin.removeValue(forKey: next) else {
            return
        }
        begin()
    }

    /// Joins the line and waits for the turn.
    /// - Throws: `limitsExceeded`, or `appCancel` when the task was cancelled while waiting; then
    ///   it does not stand in line.
    func turn(_ id: TurnID, user: UserID) async throws(EvaluationError) {
        var hasJoined = false
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                arrivals[id] = continuation
                hasJoined = join(id, user: user) { [weak self] in self?.arrive(id) }
                if !hasJoined { arrive(id) }
            }
        } onCancel: {
            BusQueue.post { self.arrive(id) }
        }
        guard hasJoined else { throw .limitsExceeded }
        guard !Task.isCancelled else {
            leave(id)
            throw .appCancel
        }
    }

    private func arrive(_ id: TurnID) { arrivals.removeValue(forKey: id)?.resume() }
}
