// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import SystemSupport

/// Lets the bus queue wait for what libdbus waits for: its descriptors and its time-outs.
@BusQueue @safe final class LoopAdapter {
    // By the address of libdbus's object, which is never followed through these.
    private var watches: [UInt: PollExecutor.Token] = [:]
    private var timeouts: [UInt: PollExecutor.Token] = [:]
    private weak var connection: BusConnection?
    private let raw: OpaquePointer
    private let executor = BusQueue.executor

    init(serving raw: OpaquePointer, for connection: BusConnection) {
        unsafe self.raw = raw
        self.connection = connection
        // SAFETY: `detach` takes these functions back before this object can go, and libdbus
        // calls them on the thread that uses the connection, which is the bus queue.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe _ = dbus_connection_set_watch_functions(
            raw,
            { watch, context in
                unsafe adapter(context) { unsafe $0.update($1) }(watch)
                return 1
            }, { watch, context in unsafe adapter(context) { unsafe $0.remove($1) }(watch) },
            { watch, context in unsafe adapter(context) { unsafe $0.update($1) }(watch) },
            context, nil)
        unsafe _ = dbus_connection_set_timeout_functions(
            raw,
            { timeout, context in
                unsafe adapter(context) { unsafe $0.updateTimeout($1) }(timeout)
                return 1
            },
            { timeout, context in unsafe adapter(context) { unsafe $0.removeTimeout($1) }(timeout)
            },
            { timeout, context in unsafe adapter(context) { unsafe $0.updateTimeout($1) }(timeout)
            },
            context, nil)
        unsafe dbus_connection_set_dispatch_status_function(
            raw,
            { connection, _, context in
                unsafe adapter(context) { me, _ in me.connection?.planDispatch() }(connection)
            },
            context, nil)
    }

    func detach() {
        unsafe dbus_connection_set_dispatch_status_function(raw, nil, nil, nil)
        // Setting no functions makes libdbus take back every watch and time-out.
        unsafe _ = dbus_connection_set_watch_functions(raw, nil, nil, nil, nil, nil)
        unsafe _ = dbus_connection_set_timeout_functions(raw, nil, nil, nil, nil, nil)
        for token in watches.values { executor.unwatch(token) }
        for token in timeouts.values { executor.cancelTimer(token) }
    }

    private func update(_ watch: OpaquePointer) {
        var interest: PollExecutor.Readiness = []
        if unsafe dbus_watch_get_enabled(watch) != 0 {
            let flags = unsafe dbus_watch_get_flags(watch)
            if flags & DBUS_WATCH_READABLE.rawValue != 0 { interest.insert(.input) }
            if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { interest.insert(.output) }
        }
        if let token = watches[UInt(bitPattern: watch)] {
            executor.setInterest(interest, of: token)
            return
        }
        let descriptor = unsafe dbus_watch_get_unix_fd(watch)
        watches[UInt(bitPattern: watch)] = executor.watch(descriptor, for: interest) {
            [weak self] ready in
            var flags: UInt32 = 0
            if ready.contains(.input) { flags |= DBUS_WATCH_READABLE.rawValue }
            if ready.contains(.output) { flags |= DBUS_WATCH_WRITABLE.rawValue }
            if ready.contains(.failure) {
                flags |= DBUS_WATCH_ERROR.rawValue | DBUS_WATCH_HANGUP.rawValue
            }
            BusQueue.assumeIsolated {
                // Whoever is told something may close the connection, so it is kept until then.
                guard let connection = self?.connection else { return }
                connection.advance { unsafe _ = dbus_watch_handle(watch, flags) }
            }
        }
    }

    private func remove(_ watch: OpaquePointer) {
        guard let token = watches.removeValue(forKey: UInt(bitPattern: watch)) else { return }
        executor.unwatch(token)
    }

    private func updateTimeout(_ timeout: OpaquePointer) {
        unsafe removeTimeout(timeout)
        guard unsafe dbus_timeout_get_enabled(timeout) != 0 else { return }
        let delay = Duration.milliseconds(Int64(unsafe dbus_timeout_get_interval(timeout)))
        timeouts[UInt(bitPattern: timeout)] = executor.after(delay) { [weak self] in
            BusQueue.assumeIsolated {
                guard let self, let connection = self.connection else { return }
                // libdbus's time-outs repeat until they are taken back.
                unsafe self.updateTimeout(timeout)
                connection.advance { unsafe _ = dbus_timeout_handle(timeout) }
            }
        }
    }

    private func removeTimeout(_ timeout: OpaquePointer) {
        guard let token = timeouts.removeValue(forKey: UInt(bitPattern: timeout)) else { return }
        executor.cancelTimer(token)
    }
}

/// Finds the adapter behind libdbus's `context` and prepares a call of `body` on it.
private func adapter(
    _ context: UnsafeMutableRawPointer?,
    _ body: @escaping @BusQueue (LoopAdapter, OpaquePointer) -> Void
) -> (OpaquePointer?) -> Void {
    { pointer in
        guard let context = unsafe context else { return }
        // SAFETY: the context is an adapter that `detach` has not yet been called on; the
        // pointers are libdbus's and stay on this thread.
        nonisolated(unsafe) let pointer = unsafe pointer
        let adapter = unsafe Unmanaged<LoopAdapter>.fromOpaque(context).takeUnretainedValue()
        BusQueue.assumeIsolated {
            guard let pointer = unsafe pointer else { return }
            unsafe body(adapter, pointer)
        }
    }
}
