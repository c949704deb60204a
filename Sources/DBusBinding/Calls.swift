// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// Whom a call goes to: a service by its well-known name, or one connection.
package enum Destination: Hashable, Sendable {
    case service(BusName)
    case peer(UniqueName)

    /// The bus itself.
    package static let bus: Self = .service("org.freedesktop.DBus")

    var isPeer: Bool {
        if case .peer = self { true } else { false }
    }

    var rawValue: String {
        switch self {
        case .service(let name): name.rawValue
        case .peer(let name): name.rawValue
        }
    }
}

extension BusConnection {
    /// Calls a method and waits for its reply, at most until the deadline.
    ///
    /// Every ending but a proper reply is an error: refusals, time-outs (`noReply`), a reply of
    /// another shape, a reply by somebody else.
    /// - Parameters:
    ///   - method: what is called.
    ///   - arguments: the call's body.
    ///   - destination: who is called.
    ///   - path: the object that is called.
    ///   - deadline: how long to wait; `nil` waits as long as the connection lives.
    ///   - interactive: whether the callee may ask the user.
    /// - Returns: the reply's body.
    /// - Throws: the callee's error, or one of the standard ones.
    package func call<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments, of destination: Destination,
        at path: ObjectPath, deadline: Duration?, interactive: Bool = false
    ) async throws(BusError) -> M.Reply {
        let message = BusMessage.call(
            of: destination, at: path, interface: M.interface, member: M.member)
        if interactive { message.allowInteraction() }
        message.encode(arguments)
        let reply = try await call(message, deadline: deadline).get()
        // The bus lets only expected replies through; that one comes from whom we called is
        // checked here, where the name tells.
        let isNameOfSender = destination == .bus || destination.isPeer
        guard !isNameOfSender || reply.senderText == destination.rawValue else {
            throw BusError(.failed, "a reply by somebody else")
        }
        do throws(DecodingFailure) {
            return try reply.decode(M.Reply.self)
        } catch {
            let text = "\(M.member.rawValue) answered (\(error.found)), not (\(error.expected))"
            throw BusError(.failed, text)
        }
    }

    /// Calls a method and wants to hear nothing of it, so that one who never answers costs nothing.
    package func tell<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments, to destination: Destination,
        at path: ObjectPath
    ) {
        let message = BusMessage.call(
            of: destination, at: path, interface: M.interface, member: M.member)
        message.wantNoReply()
        message.encode(arguments)
        send(message)
    }

    private func call(
        _ message: BusMessage, deadline: Duration?
    ) async -> Result<BusMessage, BusError> {
        let milliseconds = deadline.map { deadline in
            let (seconds, attoseconds) = deadline.components
            return Int32(clamping: max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
        }
        let call = WaitingCall()
        waitingCalls[ObjectIdentifier(call)] = call
        defer { waitingCalls[ObjectIdentifier(call)] = nil }
        return await withCheckedContinuation { continuation in
            call.continuation = continuation
            let wait = milliseconds ?? localauth_dbus_timeout_infinite()
            let pending = unsafe withRaw { connection in
                unsafe message.withRaw { message -> OpaquePointer? in
                    var pending: OpaquePointer?
                    unsafe dbus_connection_send_with_reply(connection, message, &pending, wait)
                    return unsafe pending
                }
            }
            guard let pending = unsafe pending else {
                return call.end(
                    .failure(BusError(.disconnected, "the connection to the bus is closed")))
            }
            // SAFETY: libdbus calls back at most once, on the bus queue and not before we return
            // to the loop; it gives the context back when it forgets the call. Until then it
            // holds the pending call itself, so that our reference need not be kept.
            let context = unsafe Unmanaged.passRetained(call).toOpaque()
            unsafe _ = dbus_pending_call_set_notify(pending, finishCall, context, releaseCall)
            unsafe dbus_pending_call_unref(pending)
        }
    }
}

/// A call that waits for its reply.
@BusQueue final class WaitingCall {
    fileprivate var continuation: CheckedContinuation<Result<BusMessage, BusError>, Never>?

    /// Hands over what it came to; later words are dropped.
    func end(_ result: Result<BusMessage, BusError>) {
        continuation?.resume(returning: result)
        continuation = nil
    }
}

private let finishCall: DBusPendingCallNotifyFunction = { pending, context in
    guard let pending = unsafe pending, let context = unsafe context else { return }
    // SAFETY: see where the context was made.
    let call = unsafe Unmanaged<WaitingCall>.fromOpaque(context).takeUnretainedValue()
    let reply = unsafe dbus_pending_call_steal_reply(pending)
        .map { unsafe BusMessage(adopting: $0) }
    let result: Result<BusMessage, BusError> =
        if let reply {
            reply.type == BusMessage.error ? .failure(reply.error) : .success(reply)
        } else {
            .failure(BusError(.noReply, "no reply"))
        }
    BusQueue.assumeIsolated { call.end(result) }
}

private let releaseCall: DBusFreeFunction = { context in
    guard let context = unsafe context else { return }
    // SAFETY: see where the context was made; libdbus does this once.
    unsafe Unmanaged<WaitingCall>.fromOpaque(context).release()
}

extension BusMessage {
    static func call(
        of destination: Destination, at path: ObjectPath, interface: InterfaceName,
        member: MemberName
    ) -> BusMessage {
        // SAFETY (all makers): libdbus copies the strings, which are valid by their types, and
        // hands the message over; it gives none only without memory.
        guard
            let raw = unsafe dbus_message_new_method_call(
                destination.rawValue, path.rawValue, interface.rawValue, member.rawValue)
        else { preconditionFailure("out of memory") }
        return unsafe BusMessage(adopting: raw)
    }

    static func signal(
        from path: ObjectPath, interface: InterfaceName, member: MemberName,
        to destination: UniqueName?
    ) -> BusMessage {
        guard
            let raw = unsafe dbus_message_new_signal(
                path.rawValue, interface.rawValue, member.rawValue)
        else { preconditionFailure("out of memory") }
        if let destination { unsafe _ = dbus_message_set_destination(raw, destination.rawValue) }
        return unsafe BusMessage(adopting: raw)
    }

    func makeReply() -> BusMessage {
        guard let raw = unsafe withRaw({ unsafe dbus_message_new_method_return($0) }) else {
            preconditionFailure("out of memory")
        }
        return unsafe BusMessage(adopting: raw)
    }

    func makeError(_ error: BusError) -> BusMessage {
        let made = unsafe withRaw {
            unsafe dbus_message_new_error($0, error.name.rawValue, error.message)
        }
        guard let raw = unsafe made else { preconditionFailure("out of memory") }
        return unsafe BusMessage(adopting: raw)
    }

    func wantNoReply() { unsafe withRaw { unsafe dbus_message_set_no_reply($0, 1) } }

    func allowInteraction() {
        unsafe withRaw { unsafe dbus_message_set_allow_interactive_authorization($0, 1) }
    }
}
