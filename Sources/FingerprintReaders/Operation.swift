// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// A piece of work that a reader does, and the way to end it early.
///
/// libfprint's cancel handler touches the device without a lock (1.94.5, `fp-device.c:111`), so
/// cancelling from another thread than the reader's aborts the process. Hence the isolation.
@ReaderQueue
@safe class Operation {
    private(set) var cancellable: UnsafeMutablePointer<GCancellable>?
    /// Whether somebody wanted it to end early, and so nobody wants its result.
    private(set) var isCancelled = false
    /// Has whoever waits for it wait no longer, although libfprint has not ended it.
    var giveUp: (() -> Void)?

    /// - Parameter isCancellable: false for work that must not be left half done.
    init(isCancellable: Bool = true) {
        // SAFETY: owned by this object until `end`.
        unsafe cancellable = isCancellable ? g_cancellable_new() : nil
    }

    /// Has it go on although nobody wants its result any more.
    func abandon() { isCancelled = true }

    /// Asks the reader to end it; does nothing once it has ended.
    func cancel() {
        isCancelled = true
        // SAFETY: we own it, and are on the reader thread.
        if let cancellable = unsafe cancellable { unsafe g_cancellable_cancel(cancellable) }
    }

    /// Puts it beyond the reach of `cancel`, when it has ended or must not be left half done.
    func end() {
        guard let cancellable = unsafe cancellable else { return }
        unsafe self.cancellable = nil
        // SAFETY: our reference, given back once; libfprint holds its own while it needs it.
        unsafe g_object_unref(cancellable)
    }

    /// The address that libfprint's callbacks are given. The operation outlives them, because
    /// whoever started it waits for its end.
    var address: UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }
}
