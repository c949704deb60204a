// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A value whose type is known only at run time: what a variant holds.
package indirect enum BusValue: Hashable, Sendable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    case signature(String)
    case descriptor(SharedDescriptor)
    case bytes([UInt8])
    /// Elements of one type; the signature is needed when there are none.
    case array(of: String, [BusValue])
    case structure([BusValue])
    /// One entry of a dictionary, which is an array of entries.
    case entry(BusValue, BusValue)
    case variant(BusValue)

    package var typeSignature: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .descriptor: "h"
        case .bytes: "ay"
        case .array(let element, _): "a" + element
        case .structure(let fields): "(" + fields.map(\.typeSignature).joined() + ")"
        case .entry(let key, let value): "{" + key.typeSignature + value.typeSignature + "}"
        case .variant: "v"
        }
    }

    package static func strings(_ values: [String]) -> BusValue {
        .array(of: "s", values.map { .string($0) })
    }

    package static func objectPaths(_ values: [ObjectPath]) -> BusValue {
        .array(of: "o", values.map { .objectPath($0) })
    }
}

/// A descriptor that came, or goes, with a message; closed when nobody holds it any more.
package final class SharedDescriptor: Hashable, Sendable {
    package let rawValue: Int32

    /// Takes over a descriptor that the caller owned.
    package init(adopting rawValue: Int32) { self.rawValue = rawValue }

    deinit { close(rawValue) }

    package static func == (a: SharedDescriptor, b: SharedDescriptor) -> Bool { a === b }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension BusValue: BusType {
    package static var signature: String { "v" }

    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        var inner = try reader.container(TypeCode.variant)
        self = try Self(valueFrom: &inner)
    }

    package func encode(to writer: inout MessageWriter) {
        writer.container(TypeCode.variant, contents: typeSignature) { encodeValue(to: &$0) }
    }

    /// Reads the next value, whatever its type is.
    private init(valueFrom reader: inout MessageReader) throws(DecodingFailure) {
        let code = reader.nextCode()
        switch code {
        case TypeCode.byte: self = .byte(try reader.read())
        case TypeCode.boolean: self = .bool(try reader.read())
        case TypeCode.int16: self = .int16(try reader.read())
        case TypeCode.uint16: self = .uint16(try reader.read())
        case TypeCode.int32: self = .int32(try reader.read())
        case TypeCode.uint32: self = .uint32(try reader.read())
        case TypeCode.int64: self = .int64(try reader.read())
        case TypeCode.uint64: self = .uint64(try reader.read())
        case TypeCode.double: self = .double(try reader.read())
        case TypeCode.string: self = .string(try reader.read())
        case TypeCode.objectPath: self = .objectPath(try reader.read())
        case TypeCode.signature: self = .signature(try reader.text(code))
        case TypeCode.descriptor: self = .descriptor(try reader.read())
        case TypeCode.variant: self = .variant(try reader.read())
        case TypeCode.array: try self.init(arrayFrom: &reader)
        case TypeCode.structure:
            var inner = try reader.container(code)
            var fields: [BusValue] = []
            while !inner.isAtEnd { fields.append(try Self(valueFrom: &inner)) }
            self = .structure(fields)
        case TypeCode.entry:
            var inner = try reader.container(code)
            self = .entry(try Self(valueFrom: &inner), try Self(valueFrom: &inner))
        default: throw DecodingFailure(expected: "v", found: "")
        }
    }

    private init(arrayFrom reader: inout MessageReader) throws(DecodingFailure) {
        let signature = reader.nextSignature()
        guard signature != "ay" else {
            self = .bytes(try reader.bytes())
            return
        }
        var inner = try reader.container(TypeCode.array)
        var elements: [BusValue] = []
        while !inner.isAtEnd { elements.append(try Self(valueFrom: &inner)) }
        self = .array(of: String(signature.dropFirst()), elements)
    }

    /// Appends the value itself, without the variant around it.
    private func encodeValue(to writer: inout MessageWriter) {
        switch self {
        case .byte(let value): writer.write(value)
        case .bool(let value): writer.write(value)
        case .int16(let value): writer.write(value)
        case .uint16(let value): writer.write(value)
        case .int32(let value): writer.write(value)
        case .uint32(let value): writer.write(value)
        case .int64(let value): writer.write(value)
        case .uint64(let value): writer.write(value)
        case .double(let value): writer.write(value)
        case .string(let value): writer.write(value)
        case .objectPath(let value): writer.write(value)
        case .signature(let value): writer.text(TypeCode.signature, value)
        case .descriptor(let value): writer.write(value)
        case .bytes(let value): writer.write(value)
        case .variant(let value): writer.write(value)
        case .array(let element, let values):
            writer.container(TypeCode.array, contents: element) { inner in
                for value in values { value.encodeValue(to: &inner) }
            }
        case .structure(let fields):
            writer.structure { inner in for field in fields { field.encodeValue(to: &inner) } }
        case .entry(let key, let value):
            writer.container(TypeCode.entry, contents: nil) { inner in
                key.encodeValue(to: &inner)
                value.encodeValue(to: &inner)
            }
        }
    }
}

extension SharedDescriptor: BusType {
    package static var signature: String { "h" }

    // libdbus duplicates the descriptor when it is read and when it is written.
    package convenience init(from reader: inout MessageReader) throws(DecodingFailure) {
        let descriptor = try reader.fixed(TypeCode.descriptor, Int32(-1))
        // The bus does not check that a descriptor came along, and duplicating it can fail.
        guard descriptor >= 0 else { throw DecodingFailure(expected: "h", found: "") }
        self.init(adopting: descriptor)
    }

    package func encode(to writer: inout MessageWriter) {
        writer.fixed(TypeCode.descriptor, rawValue)
    }
}
