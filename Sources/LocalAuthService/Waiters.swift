// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import SystemSupport

/// Tasks that wait for the same thing to happen.
@BusQueue final class Waiters {
    private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var last: UInt64 = 0

    /// Returns at the next `resume`, or when the time is over; at once if what is waited for holds
    /// already, which is looked at when nothing can come between that and the waiting.
    func wait(unless holds: () -> Bool = { false }, atMost limit: Duration? = nil) async {
        last += 1
        let number = last
        let timer = limit.map { limit in
            BusQueue.executor.after(limit) { [weak self] in
                BusQueue.assumeIsolated { self?.resume(number) }
            }
        }
        await withCheckedContinuation { continuation in
            guard !holds() else { return continuation.resume() }
            waiting[number] = continuation
        }
        if let timer { BusQueue.executor.cancelTimer(timer) }
    }

    /// It has happened: everybody goes on, after this turn of the queue and in the order in which
    /// they came.
    func resume() {
        for number in waiting.keys.sorted() { resume(number) }
    }

    private func resume(_ number: UInt64) { waiting.removeValue(forKey: number)?.resume() }
}
