// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import SystemSupport

/// A few threads for work that may block for long, such as asking a directory server. One stays;
/// the others are made when they are needed and end when they have had nothing to do for a while.
@BusQueue package final class LookupThreads {
    /// Names work that was handed over.
    struct Ticket: Hashable { fileprivate let number: UInt64 }

    private struct Job {
        let ticket: Ticket
        let run: @Sendable @BusQueue (LookupThread) async -> Void
    }

    private let limit: Int
    private let rest: Duration
    private var queue: [Job] = []
    /// Those with nothing to do, the last used last, and when each ends.
    private var resting: [(thread: LookupThread, end: PollExecutor.Token)] = []
    private(set) package var count = 0
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - limit: the most threads at a time.
    ///   - rest: how long a thread waits for work before it ends.
    package nonisolated init(limit: Int = 16, rest: Duration = .seconds(5)) {
        self.limit = limit
        self.rest = rest
    }

    /// Does work on a thread, when one is free, and then hands over what came of it.
    func perform<T: Sendable>(
        _ work: @escaping @Sendable () -> T, then: @escaping @Sendable @BusQueue (T) -> Void
    ) -> Ticket {
        lastNumber += 1
        let ticket = Ticket(number: lastNumber)
        queue.append(Job(ticket: ticket) { thread in then(await thread.run(work)) })
        startJobs()
        return ticket
    }

    /// Takes work back; false when it has begun.
    func withdraw(_ ticket: Ticket) -> Bool {
        guard let index = queue.firstIndex(where: { $0.ticket == ticket }) else { return false }
        queue.remove(at: index)
        return true
    }

    private func startJobs() {
        while !queue.isEmpty, let thread = freeThread() {
            let job = queue.removeFirst()
            BusQueue.task {
                await job.run(thread)
                self.free(thread)
            }
        }
    }

    private func freeThread() -> LookupThread? {
        if let last = resting.popLast() {
            BusQueue.executor.cancelTimer(last.end)
            return last.thread
        }
        guard count < limit else { return nil }
        count += 1
        return LookupThread()
    }

    private func free(_ thread: LookupThread) {
        scheduleEnd(of: thread)
        startJobs()
    }

    private func scheduleEnd(of thread: LookupThread) {
        let end = BusQueue.executor.after(rest) { [weak self] in
            BusQueue.assumeIsolated { self?.end(thread) }
        }
        resting.append((thread, end))
    }

    private func end(_ thread: LookupThread) {
        // No timer runs for the one that stays.
        guard count > 1 else { return }
        resting.removeAll { $0.thread === thread }
        count -= 1
        thread.stop()
    }
}

/// One thread, and what is done on it.
private actor LookupThread {
    private nonisolated let executor = PollExecutor(name: "lookup")

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    init() { executor.start() }

    func run<T: Sendable>(_ work: @Sendable () -> T) -> T { work() }

    nonisolated func stop() { executor.stop() }
}
