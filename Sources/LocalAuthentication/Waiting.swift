// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import SystemSupport

/// Blocks the calling thread until `work` is done on the bus queue, at most `limit`; `nil` when it
/// was not. Never called on the bus queue, where the application's code does not run.
///
/// What it waits for needs none of Swift's own threads, so that all of them may wait here at once.
func waitForService<T: Sendable>(
    atMost limit: TimeInterval = 30, _ work: @escaping @Sendable @BusQueue () async -> T
) -> T? {
    let result = Locked<T?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    BusQueue.task {
        let value = await work()
        result.withLock { $0 = value }
        isDone.signal()
    }
    _ = isDone.wait(timeout: .now() + limit)
    return result.withLock(\.self)
}
