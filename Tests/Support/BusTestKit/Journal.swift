// SPDX-License-Identifier: Apache-2.0

package import DBusBinding

/// What has happened so far, in order; a test can wait for a number of it.
@BusQueue package final class Journal<Entry: Sendable> {
    private struct Waiter {
        let number: Int
        let isMet: ([Entry]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    package private(set) var entries: [Entry] = []
    private var waiting: [Waiter] = []
    private var last = 0

    package nonisolated init() {}

    package func add(_ entry: Entry) {
        entries.append(entry)
        let met = waiting.filter { $0.isMet(entries) }
        waiting.removeAll { waiter in met.contains { $0.number == waiter.number } }
        for waiter in met { waiter.continuation.resume() }
    }

    /// Waits until so many entries are there, or until the test's time is over.
    package func reaches(_ count: Int) async { await meets { $0.count >= count } }

    /// Waits until the entries are as a test wants them, or until its time is over.
    package func meets(_ isMet: @escaping ([Entry]) -> Bool) async {
        last += 1
        let number = last
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Looked at here and not before: on the way here others can have their turn.
                guard !isMet(entries), !Task.isCancelled else { return continuation.resume() }
                waiting.append(
                    Waiter(number: number, isMet: isMet, continuation: continuation))
            }
        } onCancel: {
            BusQueue.post { self.giveUp(number) }
        }
    }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume()
    }
}

extension Journal where Entry: Equatable {
    /// Waits until there is such an entry, so many times.
    package func has(_ entry: Entry, times: Int = 1) async {
        await meets { entries in entries.count(where: { $0 == entry }) >= times }
    }
}

extension Journal where Entry == Void {
    package func add() { add(()) }
}
