// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// Owns one reference to a libdbus message.
@safe final class BusMessage: Sendable {
    // SAFETY: immutable; libdbus counts references atomically, and the message itself is only
    // read, or written before anybody else has it.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Takes over a reference that the caller owned (transfer full).
    init(adopting raw: OpaquePointer) { unsafe self.raw = raw }

    /// Adds a reference; the caller keeps its own (transfer none).
    init(retaining raw: OpaquePointer) { unsafe self.raw = dbus_message_ref(raw) }

    deinit { unsafe dbus_message_unref(raw) }

    /// Lends the message to C code for the time of `body`.
    func withRaw<T>(_ body: (OpaquePointer) -> T) -> T { unsafe body(raw) }

    // SAFETY (all below): libdbus keeps these strings for the message's life; they are copied.
    var sender: UniqueName? { unsafe text(dbus_message_get_sender(raw)).flatMap(UniqueName.init) }
    var senderText: String? { unsafe text(dbus_message_get_sender(raw)) }
    var path: ObjectPath? { unsafe text(dbus_message_get_path(raw)).flatMap(ObjectPath.init) }
    var interface: String? { unsafe text(dbus_message_get_interface(raw)) }
    var member: String? { unsafe text(dbus_message_get_member(raw)) }
    var errorName: String? { unsafe text(dbus_message_get_error_name(raw)) }
    var signature: String { unsafe text(dbus_message_get_signature(raw)) ?? "" }
    var type: Int32 { unsafe dbus_message_get_type(raw) }
    var expectsReply: Bool { unsafe dbus_message_get_no_reply(raw) == 0 }
    var allowsInteraction: Bool {
        unsafe dbus_message_get_allow_interactive_authorization(raw) != 0
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
    }

    /// Reads the whole body as `Body`.
    func decode<Body: BusBody>(_ type: Body.Type) throws(DecodingFailure) -> Body {
        guard signature == Body.signature else {
            throw DecodingFailure(expected: Body.signature, found: signature)
        }
        var reader = MessageReader(self)
        return try Body(from: &reader)
    }

    /// Appends the whole body.
    func encode(_ body: some BusBody) {
        var writer = MessageWriter(self)
        body.encode(to: &writer)
    }

    /// The error that an error message carries.
    var error: BusError {
        let message = try? decode(Single<String>.self).value
        return BusError(errorName.flatMap { ErrorName($0) } ?? .failed, message ?? "")
    }
}

extension BusMessage {
    // The numbers are fixed by the D-Bus specification, "Message Format".
    static let methodCall: Int32 = 1
    static let methodReturn: Int32 = 2
    static let error: Int32 = 3
    static let signal: Int32 = 4
}

/// A body that is not what was expected.
package struct DecodingFailure: Error, Hashable, Sendable {
    package let expected: String
    package let found: String

    package init(expected: String, found: String) {
        self.expected = expected
        self.found = found
    }
}
