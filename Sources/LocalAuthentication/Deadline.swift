// SPDX-License-Identifier: Apache-2.0

/// Does something after a time, unless it is let go before.
final class Deadline: Sendable {
    // SAFETY: Dispatch's objects may be used on any thread, which their types do not say.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    init(
        after seconds: TimeInterval, on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) {
        unsafe timer = DispatchSource.makeTimerSource(queue: queue)
        unsafe timer.setEventHandler(handler: action)
        unsafe timer.schedule(deadline: .now() + seconds, leeway: .seconds(1))
        unsafe timer.activate()
    }

    deinit { unsafe timer.cancel() }
}
