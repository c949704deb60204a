// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// What a GIO-style call in flight is waiting to do.
@ReaderQueue
@safe private final class PendingCall {
    let finish: (OpaquePointer) -> Void
    init(_ finish: @escaping (OpaquePointer) -> Void) { unsafe self.finish = finish }
}

/// Starts a GIO-style call: the one bridge from C callbacks.
///
/// - Parameters:
///   - start: hands both arguments on to the C function.
///   - finish: is given the result, in the callback itself.
@ReaderQueue
func startGioCall(
    _ start: (GAsyncReadyCallback, UnsafeMutableRawPointer) -> Void,
    finish: @escaping @ReaderQueue (OpaquePointer) -> Void
) {
    let call = unsafe PendingCall(finish)
    let ready: GAsyncReadyCallback = { _, result, data in
        guard let result = unsafe result, let data = unsafe data else { return }
        // SAFETY: GIO calls back exactly once, so the box is released exactly once; the result is
        // only borrowed during the callback.
        let call = unsafe Unmanaged<PendingCall>.fromOpaque(data).takeRetainedValue()
        nonisolated(unsafe) let borrowed = unsafe result
        ReaderQueue.assumeIsolated { unsafe call.finish(borrowed) }
    }
    unsafe start(ready, Unmanaged.passRetained(call).toOpaque())
}

/// Starts a GIO-style call and awaits its end.
///
/// - Parameters:
///   - start: hands both arguments on to the C function.
///   - finish: calls the function's `_finish`. Runs in the callback itself, so that a cancel
///     posted meanwhile already finds the operation over.
/// - Returns: what `finish` made of the result.
@ReaderQueue
func gioCall<T: Sendable>(
    _ start: (GAsyncReadyCallback, UnsafeMutableRawPointer) -> Void,
    finish: @escaping @ReaderQueue (OpaquePointer) -> T
) async -> T {
    await withCheckedContinuation { continuation in
        unsafe startGioCall(start) { result in
            continuation.resume(returning: unsafe finish(result))
        }
    }
}
