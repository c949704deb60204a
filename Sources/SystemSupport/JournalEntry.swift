// SPDX-License-Identifier: Apache-2.0

/// Names one kind of event for good, so that it is found whatever its words are.
package struct MessageID: Hashable, Sendable {
    package let rawValue: String

    /// 128 bits as 32 hexadecimal digits, as `systemd-id128 new` gives them. They stand in our own
    /// source, so wrong ones trap.
    package init(_ digits: StaticString) {
        rawValue = "\(digits)"
        precondition(rawValue.utf8.count == 32, "not a message id")
        precondition(
            rawValue.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) },
            "not a message id")
    }
}

/// One entry in the form that journald takes ("Native Journal Protocol").
struct JournalEntry {
    private(set) var bytes: [UInt8] = []

    /// Fields of ours begin with this; so none can pass for one of journald's own.
    private static let prefix = "LOCALAUTH_"
    /// journald drops fields whose names are longer.
    private static let longestName = 64

    init(
        _ level: Log.Level, topic: String, text: String, id: MessageID?, program: String,
        fields: KeyValuePairs<String, String>
    ) {
        append("MESSAGE", text)
        append("PRIORITY", String(level.rawValue))
        append("SYSLOG_IDENTIFIER", program)
        if let id { append("MESSAGE_ID", id.rawValue) }
        append(Self.prefix + "TOPIC", topic)
        var used: Set<String> = [Self.prefix + "TOPIC"]
        for (key, value) in fields {
            // A field that has no valid name, or one that is taken, is in the text only.
            guard let name = Self.name(of: key), used.insert(name).inserted else { continue }
            append(name, Log.cut(value))
        }
    }

    /// The name of a field in the journal; `nil` for one that journald would not take.
    static func name(of key: String) -> String? {
        var name = prefix
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                name.unicodeScalars.append(Unicode.Scalar(byte - 0x20))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: return nil
            }
        }
        return key.isEmpty || name.utf8.count > longestName ? nil : name
    }

    private mutating func append(_ name: String, _ value: String) {
        bytes += name.utf8
        if value.utf8.contains(UInt8(ascii: "\n")) {
            // With its length in front, a value can hold anything.
            bytes.append(UInt8(ascii: "\n"))
            let count = UInt64(value.utf8.count)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> shift))
            }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value.utf8
        bytes.append(UInt8(ascii: "\n"))
    }
}
