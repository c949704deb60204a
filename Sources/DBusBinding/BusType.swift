// SPDX-License-Identifier: Apache-2.0

/// A Swift type that stands for exactly one complete D-Bus type.
package protocol BusType: Sendable {
    static var signature: String { get }
    init(from reader: inout MessageReader) throws(DecodingFailure)
    func encode(to writer: inout MessageWriter)
}

/// A number, which a message holds as it stands in memory.
package protocol BusNumber: BusType, Numeric, BitwiseCopyable {
    /// The type's code in signatures.
    static var code: UInt8 { get }
}

extension BusNumber {
    package static var signature: String { String(UnicodeScalar(code)) }
    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        self = try reader.fixed(Self.code, Self.zero)
    }
    package func encode(to writer: inout MessageWriter) { writer.fixed(Self.code, self) }
}

extension UInt8: BusNumber {
    package static var code: UInt8 { TypeCode.byte }
}
extension Int16: BusNumber {
    package static var code: UInt8 { TypeCode.int16 }
}
extension UInt16: BusNumber {
    package static var code: UInt8 { TypeCode.uint16 }
}
extension Int32: BusNumber {
    package static var code: UInt8 { TypeCode.int32 }
}
extension UInt32: BusNumber {
    package static var code: UInt8 { TypeCode.uint32 }
}
extension Int64: BusNumber {
    package static var code: UInt8 { TypeCode.int64 }
}
extension UInt64: BusNumber {
    package static var code: UInt8 { TypeCode.uint64 }
}
extension Double: BusNumber {
    package static var code: UInt8 { TypeCode.double }
}

extension Bool: BusType {
    package static var signature: String { "b" }
    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        // libdbus uses 32 bits for a boolean.
        self = try reader.fixed(TypeCode.boolean, UInt32(0)) != 0
    }
    package func encode(to writer: inout MessageWriter) {
        writer.fixed(TypeCode.boolean, UInt32(self ? 1 : 0))
    }
}

extension String: BusType {
    package static var signature: String { "s" }
    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        self = try reader.text(TypeCode.string)
    }
    package func encode(to writer: inout MessageWriter) { writer.text(TypeCode.string, self) }
}

extension ObjectPath: BusType {
    package static var signature: String { "o" }
    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        let text = try reader.text(TypeCode.objectPath)
        guard let path = ObjectPath(text) else {
            throw DecodingFailure(expected: "o", found: "s")
        }
        self = path
    }
    package func encode(to writer: inout MessageWriter) {
        writer.text(TypeCode.objectPath, rawValue)
    }
}

extension Array: BusType where Element: BusType {
    package static var signature: String { "a" + Element.signature }

    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        if Element.self == UInt8.self, let bytes = try reader.bytes() as? [Element] {
            self = bytes
            return
        }
        var inner = try reader.container(TypeCode.array)
        self = []
        while !inner.isAtEnd { append(try Element(from: &inner)) }
    }

    package func encode(to writer: inout MessageWriter) {
        writer.container(TypeCode.array, contents: Element.signature) { inner in
            for element in self { element.encode(to: &inner) }
        }
    }
}

extension Dictionary: BusType where Key: BusType & Comparable, Value: BusType {
    package static var signature: String { "a{\(Key.signature)\(Value.signature)}" }

    /// The last of several entries with the same key wins, as in other bindings.
    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        var inner = try reader.container(TypeCode.array)
        self = [:]
        while !inner.isAtEnd {
            var entry = try inner.container(TypeCode.entry)
            let key = try Key(from: &entry)
            self[key] = try Value(from: &entry)
        }
    }

    package func encode(to writer: inout MessageWriter) {
        let contents = "{\(Key.signature)\(Value.signature)}"
        writer.container(TypeCode.array, contents: contents) { inner in
            // In a fixed order, so that the same content is the same message.
            for (key, value) in sorted(by: { $0.key < $1.key }) {
                inner.container(TypeCode.entry, contents: nil) { entry in
                    key.encode(to: &entry)
                    value.encode(to: &entry)
                }
            }
        }
    }
}

extension ObjectPath: Comparable {
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
