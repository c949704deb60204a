// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import SystemSupport

/// One kind of question that may take long: those who ask the same at the same time share the
/// answer, and nobody waits beyond a deadline.
@BusQueue final class SharedLookup<Key: Hashable & Sendable, Answer: Sendable> {
    private struct Waiter {
        let number: UInt64
        let timer: PollExecutor.Token
        let continuation: CheckedContinuation<Answer?, Never>
    }

    private let threads: LookupThreads
    private let deadline: Duration
    private let query: @Sendable (Key) -> Answer?
    private var open: [Key: (ticket: LookupThreads.Ticket, waiters: [Waiter])] = [:]
    private var lastNumber: UInt64 = 0

    nonisolated init(
        on threads: LookupThreads, deadline: Duration,
        query: @escaping @Sendable (Key) -> Answer?
    ) {
        self.threads = threads
        self.deadline = deadline
        self.query = query
    }

    /// The answer; `nil` also when there was none in time. The question itself cannot be taken
    /// back: it goes on, and whoever asks the same meanwhile waits for it too.
    func ask(_ key: Key) async -> Answer? {
        await withCheckedContinuation { continuation in
            lastNumber += 1
            let number = lastNumber
            let timer = BusQueue.executor.after(deadline) { [weak self] in
                BusQueue.assumeIsolated { self?.giveUp(number, on: key) }
            }
            let waiter = Waiter(number: number, timer: timer, continuation: continuation)
            if open[key] != nil {
                open[key]?.waiters.append(waiter)
                return
            }
            let ticket = threads.perform { [query] in
                query(key)
            } then: { [weak self] answer in
                self?.finish(key, answer)
            }
            open[key] = (ticket, [waiter])
        }
    }

    private func finish(_ key: Key, _ answer: Answer?) {
        for waiter in open.removeValue(forKey: key)?.waiters ?? [] {
            BusQueue.executor.cancelTimer(waiter.timer)
            waiter.continuation.resume(returning: answer)
        }
    }

    private func giveUp(_ number: UInt64, on key: Key) {
        guard let waiters = open[key]?.waiters, let ticket = open[key]?.ticket,
            let index = waiters.firstIndex(where: { $0.number == number })
        else { return }
        waiters[index].continuation.resume(returning: nil)
        open[key]?.waiters.remove(at: index)
        // Where every thread is stuck, what nobody waits for is not asked at all.
        if waiters.count == 1, threads.withdraw(ticket) { open[key] = nil }
    }
}
