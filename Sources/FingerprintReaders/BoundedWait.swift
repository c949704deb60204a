// SPDX-License-Identifier: Apache-2.0

/// Waits until so much work is done or the time is over, whichever is first.
@ReaderQueue
final class BoundedWait {
    private var count: Int
    private var continuation: CheckedContinuation<Bool, Never>?

    init(count: Int, _ continuation: CheckedContinuation<Bool, Never>) {
        self.count = count
        self.continuation = continuation
    }

    /// Whether this was the last.
    func oneIsDone() -> Bool {
        count -= 1
        guard count == 0 else { return false }
        end(inTime: true)
        return true
    }

    func end(inTime: Bool) {
        continuation?.resume(returning: inTime)
        continuation = nil
    }
}
