// SPDX-License-Identifier: Apache-2.0

package import DBusBinding

/// What has happened, in order, for a test to wait for.
@BusQueue package final class Happenings<Event: Sendable> {
    private struct Waiter {
        let number: UInt64
        let matches: @Sendable (Event) -> Bool
        let resume: (Event?) -> Void
    }

    /// Everything so far.
    package private(set) var all: [Event] = []
    private var unclaimed: [Event] = []
    private var waiting: [Waiter] = []
    private var lastWaiter: UInt64 = 0

    package nonisolated init() {}

    /// Adds an event.
    package func note(_ event: Event) {
        all.append(event)
        guard let index = waiting.firstIndex(where: { $0.matches(event) }) else {
            unclaimed.append(event)
            return
        }
        waiting.remove(at: index).resume(event)
    }

    /// Waits for something that was not waited for before; what comes earlier can be waited for
    /// later. `nil` when the test is out of time.
    @discardableResult
    package func next(
        _ matches: @escaping @Sendable (Event) -> Bool = { _ in true }
    ) async -> Event? {
        lastWaiter += 1
        let number = lastWaiter
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Looked at here and not before: on the way here others can have their turn.
                if let index = unclaimed.firstIndex(where: matches) {
                    return continuation.resume(returning: unclaimed.remove(at: index))
                }
                guard !Task.isCancelled else { return continuation.resume(returning: nil) }
                waiting.append(
                    Waiter(number: number, matches: matches) { continuation.resume(returning: $0) })
            }
        } onCancel: {
            BusQueue.post { self.giveUp(number) }
        }
    }

    private func giveUp(_ number: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).resume(nil)
    }
}
