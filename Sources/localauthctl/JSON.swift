// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import SystemSupport

/// A JSON value (RFC 8259). Members keep the order in which they were given.
indirect enum JSON: Equatable, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    /// One name and its value.
    struct Member: Equatable {
        let name: String
        let value: JSON
    }

    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }

    /// An object with these members, in this order.
    static func members(_ members: KeyValuePairs<String, JSON>) -> JSON {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    static func strings(_ values: [String]) -> JSON { .array(values.map { .string($0) }) }

    /// An object with a D-Bus dictionary's entries, by name.
    static func dictionary(_ values: [String: BusValue]) -> JSON {
        .object(
            values.sorted { $0.key < $1.key }.map { Member(name: $0.key, value: JSON($0.value)) })
    }

    /// The value as text: printable ASCII on one line, whatever it holds.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        // JSON has no words for what is no number.
        case .double(let value): value.isFinite ? String(value) : "null"
        case .string(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",")
                + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22: result += "\\\""
            case 0x5c: result += "\\\\"
            case 0x20..<0x7f: result.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
        return result + "\""
    }
}

extension JSON {
    /// A D-Bus value: bytes as hexadecimal digits, and what JSON has no words for as `null`.
    init(_ value: BusValue) {
        switch value {
        case .byte(let number): self = .unsigned(UInt64(number))
        case .bool(let flag): self = .bool(flag)
        case .int16(let number): self = .integer(Int64(number))
        case .uint16(let number): self = .unsigned(UInt64(number))
        case .int32(let number): self = .integer(Int64(number))
        case .uint32(let number): self = .unsigned(UInt64(number))
        case .int64(let number): self = .integer(number)
        case .uint64(let number): self = .unsigned(number)
        case .double(let number): self = .double(number)
        case .string(let text), .signature(let text): self = .string(text)
        case .objectPath(let path): self = .string(path.rawValue)
        case .descriptor: self = .null
        case .bytes(let bytes): self = .string(hexadecimal(bytes))
        case .array(let element, let values) where element.hasPrefix("{"):
            self = .object(values.compactMap(JSON.member))
        case .array(_, let values), .structure(let values): self = .array(values.map { JSON($0) })
        case .entry(let key, let value): self = .array([JSON(key), JSON(value)])
        case .variant(let value): self.init(value)
        }
    }

    private static func member(_ entry: BusValue) -> Member? {
        guard case .entry(let key, let value) = entry else { return nil }
        return Member(name: key.plainText, value: JSON(value))
    }
}

extension BusValue {
    /// The value as people read it. Not yet fit for a terminal.
    var plainText: String {
        switch self {
        case .bool(let flag): flag ? "yes" : "no"
        case .string(let text), .signature(let text): text
        case .objectPath(let path): path.rawValue
        case .bytes(let bytes): hexadecimal(bytes)
        case .array(_, let values), .structure(let values):
            values.isEmpty ? "none" : values.map(\.plainText).joined(separator: ", ")
        case .entry(let key, let value): key.plainText + "=" + value.plainText
        case .variant(let value): value.plainText
        case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .descriptor:
            JSON(self).text
        }
    }
}
