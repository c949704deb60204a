// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// Walks the values of a message, or of a container in it. libdbus has validated the message
/// before we see it (types, lengths, UTF-8, nesting of at most 64).
@safe package struct MessageReader: ~Copyable {
    private var iterator: DBusMessageIter
    // The iterator points into the message, which must live as long.
    private let message: BusMessage

    init(_ message: BusMessage) {
        var iterator = unsafe DBusMessageIter()
        // SAFETY: libdbus fills the iterator; `message` keeps what it points to alive.
        unsafe message.withRaw { raw in unsafe _ = dbus_message_iter_init(raw, &iterator) }
        unsafe self.iterator = iterator
        self.message = message
    }

    private init(_ message: BusMessage, at iterator: DBusMessageIter) {
        unsafe self.iterator = iterator
        self.message = message
    }

    /// The type code of the next value; 0 at the end.
    mutating func nextCode() -> UInt8 {
        UInt8(truncatingIfNeeded: unsafe dbus_message_iter_get_arg_type(&iterator))
    }

    /// The signature of the next value.
    mutating func nextSignature() -> String {
        // SAFETY: libdbus hands the string over; it is copied, then freed.
        guard let text = unsafe dbus_message_iter_get_signature(&iterator) else { return "" }
        defer { unsafe dbus_free(text) }
        return unsafe String(cString: text)
    }

    mutating func expect(_ code: UInt8) throws(DecodingFailure) {
        let found = nextCode()
        guard found == code else {
            throw DecodingFailure(
                expected: String(UnicodeScalar(code)),
                found: found == 0 ? "" : String(UnicodeScalar(found)))
        }
    }

    /// Reads one value of fixed size into `value` and goes on to the next.
    mutating func fixed<T: BitwiseCopyable>(_ code: UInt8, _ value: T) throws(DecodingFailure) -> T
    {
        try expect(code)
        var value = value
        // SAFETY: the type code was checked, and `T` is the C type that goes with it.
        unsafe dbus_message_iter_get_basic(&iterator, &value)
        advance()
        return value
    }

    mutating func text(_ code: UInt8) throws(DecodingFailure) -> String {
        try expect(code)
        var pointer: UnsafePointer<CChar>?
        // SAFETY: the type code was checked; the string lives as long as the message; it is copied.
        unsafe dbus_message_iter_get_basic(&iterator, &pointer)
        advance()
        return unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }

    /// A reader of the structure that stands next; this one goes on behind it.
    package mutating func structure() throws(DecodingFailure) -> MessageReader {
        try container(TypeCode.structure)
    }

    /// A reader of the container that stands next; this one goes on behind it.
    mutating func container(_ code: UInt8) throws(DecodingFailure) -> MessageReader {
        try expect(code)
        var inner = unsafe DBusMessageIter()
        // SAFETY: libdbus fills the iterator, which points into the same message.
        unsafe dbus_message_iter_recurse(&iterator, &inner)
        advance()
        return unsafe MessageReader(message, at: inner)
    }

    /// Reads an array of bytes at once.
    mutating func bytes() throws(DecodingFailure) -> [UInt8] {
        var inner = try container(TypeCode.array)
        guard inner.nextCode() != 0 else { return [] }
        try inner.expect(TypeCode.byte)
        var start: UnsafePointer<UInt8>?
        var count: Int32 = 0
        // SAFETY: libdbus points into the message; the bytes are copied before it can go.
        unsafe dbus_message_iter_get_fixed_array(&inner.iterator, &start, &count)
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    package var isAtEnd: Bool { mutating get { nextCode() == 0 } }

    /// Reads the next value.
    package mutating func read<T: BusType>(_ type: T.Type = T.self) throws(DecodingFailure) -> T {
        try T(from: &self)
    }

    private mutating func advance() { unsafe _ = dbus_message_iter_next(&iterator) }
}

/// The type codes of the D-Bus specification, "Type System".
enum TypeCode {
    static let byte = UInt8(ascii: "y")
    static let boolean = UInt8(ascii: "b")
    static let int16 = UInt8(ascii: "n")
    static let uint16 = UInt8(ascii: "q")
    static let int32 = UInt8(ascii: "i")
    static let uint32 = UInt8(ascii: "u")
    static let int64 = UInt8(ascii: "x")
    static let uint64 = UInt8(ascii: "t")
    static let double = UInt8(ascii: "d")
    static let string = UInt8(ascii: "s")
    static let objectPath = UInt8(ascii: "o")
    static let signature = UInt8(ascii: "g")
    static let descriptor = UInt8(ascii: "h")
    static let array = UInt8(ascii: "a")
    static let variant = UInt8(ascii: "v")
    // libdbus's own codes for containers, whose signatures use brackets instead.
    static let structure = UInt8(ascii: "r")
    static let entry = UInt8(ascii: "e")
}
