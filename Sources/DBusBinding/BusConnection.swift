// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import SystemSupport

/// A private connection to a message bus, served by the bus queue.
///
/// It never ends the process by itself; `onDisconnect` is called once when the bus is gone.
@BusQueue @safe package final class BusConnection {
    package let uniqueName: UniqueName
    package var onDisconnect: (() -> Void)?
    /// Called for each method call that arrives, before it is served.
    package var onCall: (() -> Void)?

    // SAFETY: libdbus is used on the bus queue only; closed in `close`, released in `deinit`.
    private let raw: OpaquePointer
    private var isOpen = true
    var objects: [ObjectPath: BusObject] = [:]
    var signalHandlers: [SignalKey: [SignalHandler]] = [:]
    var peerWatchers: [(UniqueName) -> Void] = []
    var waitingCalls: [ObjectIdentifier: WaitingCall] = [:]
    /// Calls of others that have come and have no answer yet.
    var unansweredCalls: [ObjectIdentifier: BusCall] = [:]
    private var loop: LoopAdapter?
    private var isDispatchPlanned = false
    private var isDispatching = false

    /// Opens a connection, authenticates and says hello. Blocks until the bus has answered, so
    /// it belongs at the start of a program.
    ///
    /// `address` is a D-Bus address; `nil` is the system bus as libdbus finds it
    /// (`DBUS_SYSTEM_BUS_ADDRESS`).
    package init(address: String? = nil) throws(BusError) {
        var error = unsafe DBusError()
        unsafe dbus_error_init(&error)
        // SAFETY: libdbus fills the error and hands the connection over; both are checked.
        var connection: OpaquePointer?
        if let address {
            unsafe connection = dbus_connection_open_private(address, &error)
            if let opened = unsafe connection, unsafe dbus_bus_register(opened, &error) == 0 {
                unsafe dbus_connection_close(opened)
                unsafe dbus_connection_unref(opened)
                unsafe connection = nil
            }
        } else {
            unsafe connection = dbus_bus_get_private(DBUS_BUS_SYSTEM, &error)
        }
        guard let connection = unsafe connection,
            let name = unsafe dbus_bus_get_unique_name(connection)
                .flatMap({ unsafe UniqueName(String(cString: $0)) })
        else {
            let failure = unsafe BusError(taking: &error)
            throw failure
        }
        unsafe raw = connection
        uniqueName = name
        unsafe dbus_connection_set_exit_on_disconnect(connection, 0)
        loop = unsafe LoopAdapter(serving: connection, for: self)
        installFilter()
        planDispatch()
    }

    isolated deinit {
        close()
        unsafe dbus_connection_unref(raw)
    }

    /// Whether somebody has called and has no answer yet.
    package var hasUnansweredCalls: Bool { !unansweredCalls.isEmpty }

    /// Answers, with one and the same error, every call that has no answer yet.
    package func answerRest(with error: BusError) {
        for call in Array(unansweredCalls.values) {
            call.answer(Result<NoValues, BusError>.failure(error))
        }
    }

    /// Leaves the bus. Calls that wait for their reply end with an error, and nothing that was
    /// served or listened for is kept. Does not wait long for a bus that takes nothing any more.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        flush()
        unsafe dbus_connection_remove_filter(raw, filter, context)
        loop?.detach()
        unsafe dbus_connection_close(raw)
        endCalls()
        // Whoever is reached by these usually has the connection.
        (objects, signalHandlers, peerWatchers) = ([:], [:], [])
        (onCall, onDisconnect) = (nil, nil)
        unansweredCalls = [:]
    }

    /// Sends what was queued. Not `dbus_connection_flush`, which waits for ever for a bus that
    /// hangs.
    private func flush() {
        let start = BootClock.nanoseconds()
        while unsafe dbus_connection_has_messages_to_send(raw) != 0,
            BootClock.nanoseconds() - start < 400_000_000,
            unsafe dbus_connection_read_write(raw, 100) != 0
        {}
    }

    /// Ends the calls that still wait. When a connection ends, libdbus forgets them in silence.
    private func endCalls() {
        let error = BusError(.disconnected, "the connection to the bus is closed")
        for call in waitingCalls.values { call.end(.failure(error)) }
    }

    func withRaw<T>(_ body: (OpaquePointer) -> T) -> T { unsafe body(raw) }

    /// Sends a message without waiting for anything.
    func send(_ message: BusMessage) {
        guard isOpen else { return }
        // SAFETY: libdbus takes its own reference.
        unsafe message.withRaw { message in unsafe _ = dbus_connection_send(raw, message, nil) }
    }

    // MARK: Dispatching

    /// Hands over what libdbus has read, soon.
    func planDispatch() {
        guard isOpen, !isDispatchPlanned, !isDispatching,
            unsafe dbus_connection_get_dispatch_status(raw) == DBUS_DISPATCH_DATA_REMAINS
        else { return }
        isDispatchPlanned = true
        BusQueue.post { [self] in
            isDispatchPlanned = false
            dispatch()
        }
    }

    /// Lets libdbus do what it has waited for, and hands over what it has read.
    func advance(_ work: () -> Void) {
        // `dispatch` comes at once, so that `planDispatch` need not bring it.
        isDispatching = true
        work()
        isDispatching = false
        dispatch()
    }

    /// Hands over what libdbus has read; a busy sender cannot keep others from their turn.
    func dispatch() {
        guard isOpen, !isDispatching else { return }
        isDispatching = true
        var count = 0
        while count < 64, isOpen,
            unsafe dbus_connection_dispatch(raw) == DBUS_DISPATCH_DATA_REMAINS
        {
            count += 1
        }
        isDispatching = false
        planDispatch()
    }

    private var context: UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }

    private func installFilter() {
        unsafe _ = dbus_connection_add_filter(raw, filter, context, nil)
    }

    /// Takes one message; false when it is not for us.
    fileprivate func take(_ message: BusMessage) -> Bool {
        switch message.type {
        case BusMessage.methodCall:
            onCall?()
            serve(message)
            return true
        case BusMessage.signal:
            if message.interface == "org.freedesktop.DBus.Local",
                message.member == "Disconnected"
            {
                endCalls()
                onDisconnect?()
                onDisconnect = nil
                return true
            }
            return route(message)
        default: return false
        }
    }
}

// SAFETY: libdbus calls this on the bus queue, from `dispatch`, with the pointer given to
// `dbus_connection_add_filter`; `close` removes the filter before the object can go.
private let filter: DBusHandleMessageFunction = { _, message, context in
    guard let message = unsafe message, let context = unsafe context else {
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
    }
    let owned = unsafe BusMessage(retaining: message)
    let connection = unsafe Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue()
    let isTaken = BusQueue.assumeIsolated { connection.take(owned) }
    return isTaken ? DBUS_HANDLER_RESULT_HANDLED : DBUS_HANDLER_RESULT_NOT_YET_HANDLED
}

extension BusError {
    /// Copies and frees libdbus's error.
    init(taking error: inout DBusError) {
        let name = unsafe error.name.map { unsafe String(cString: $0) }
        let message = unsafe error.message.map { unsafe String(cString: $0) }
        unsafe dbus_error_free(&error)
        self.init(name.flatMap { ErrorName($0) } ?? .failed, message ?? "no connection to the bus")
    }
}
