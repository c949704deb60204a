// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// Appends values to a message, or to a container in it.
///
/// libdbus fails to append only without memory, where there is no way on.
@safe package struct MessageWriter: ~Copyable {
    private var iterator: DBusMessageIter
    // The iterator points into the message, which must live as long.
    private let message: BusMessage

    init(_ message: BusMessage) {
        var iterator = unsafe DBusMessageIter()
        // SAFETY: libdbus fills the iterator; `message` keeps what it points to alive.
        unsafe message.withRaw { raw in unsafe dbus_message_iter_init_append(raw, &iterator) }
        unsafe self.iterator = iterator
        self.message = message
    }

    private init(_ message: BusMessage, at iterator: DBusMessageIter) {
        unsafe self.iterator = iterator
        self.message = message
    }

    mutating func fixed<T: BitwiseCopyable>(_ code: UInt8, _ value: T) {
        var value = value
        // SAFETY: `T` is the C type that goes with the code; libdbus copies the value.
        let done = unsafe dbus_message_iter_append_basic(&iterator, Int32(code), &value)
        precondition(done != 0, "out of memory")
    }

    mutating func text(_ code: UInt8, _ text: String) {
        // SAFETY: the C string lives during the call; libdbus copies it.
        let done = unsafe text.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = unsafe pointer
            return unsafe dbus_message_iter_append_basic(&iterator, Int32(code), &pointer)
        }
        precondition(done != 0, "out of memory")
    }

    /// Appends a container that `fill` fills.
    ///
    /// `contents` is the signature of an array's elements or a variant's value, else `nil`.
    mutating func container(
        _ code: UInt8, contents: String?, _ fill: (inout MessageWriter) -> Void
    ) {
        var inner = unsafe DBusMessageIter()
        // SAFETY: the inner iterator is closed before this one is used again.
        let opened =
            if let contents {
                unsafe contents.withCString {
                    unsafe dbus_message_iter_open_container(&iterator, Int32(code), $0, &inner)
                }
            } else {
                unsafe dbus_message_iter_open_container(&iterator, Int32(code), nil, &inner)
            }
        precondition(opened != 0, "out of memory")
        var writer = unsafe MessageWriter(message, at: inner)
        fill(&writer)
        unsafe inner = writer.iterator
        let closed = unsafe dbus_message_iter_close_container(&iterator, &inner)
        precondition(closed != 0, "out of memory")
    }

    /// Appends a structure that `fill` fills.
    package mutating func structure(_ fill: (inout MessageWriter) -> Void) {
        container(TypeCode.structure, contents: nil, fill)
    }

    /// Appends one value.
    package mutating func write(_ value: some BusType) { value.encode(to: &self) }
}
