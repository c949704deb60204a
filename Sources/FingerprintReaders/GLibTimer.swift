// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// A call on the reader queue once a time has passed.
@ReaderQueue
@safe final class GLibTimer {
    private var source: UnsafeMutablePointer<GSource>?
    private var action: (() -> Void)?

    init(milliseconds: UInt32, action: @escaping () -> Void) {
        self.action = action
        // SAFETY: this object owns the source; the source owns one reference to this object,
        // which is dropped with it.
        unsafe source = g_timeout_source_new(milliseconds)
        unsafe g_source_set_callback(
            source,
            { data in
                guard let data = unsafe data else { return G_SOURCE_REMOVE }
                let timer = unsafe Unmanaged<GLibTimer>.fromOpaque(data).takeUnretainedValue()
                ReaderQueue.assumeIsolated { timer.fire() }
                return G_SOURCE_REMOVE
            }, Unmanaged.passRetained(self).toOpaque(),
            { data in
                guard let data = unsafe data else { return }
                unsafe Unmanaged<GLibTimer>.fromOpaque(data).release()
            })
        unsafe g_source_attach(source, nil)
    }

    /// Forgets the call; does nothing once it was made.
    func cancel() {
        action = nil
        guard let source = unsafe source else { return }
        unsafe self.source = nil
        // SAFETY: the reference from `g_timeout_source_new` is given back once.
        unsafe g_source_destroy(source)
        unsafe g_source_unref(source)
    }

    private func fire() {
        let action = self.action
        cancel()
        action?()
    }
}
