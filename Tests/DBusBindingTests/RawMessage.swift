// SPDX-License-Identifier: Apache-2.0

import DBusBinding

/// Writes D-Bus's little-endian form, without any check.
struct Marshal {
    var bytes: [UInt8] = []

    mutating func align(_ size: Int) { while bytes.count % size != 0 { bytes.append(0) } }

    mutating func number(_ value: UInt32) {
        align(4)
        for shift in stride(from: 0, to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift)))
        }
    }

    mutating func text(_ text: [UInt8]) {
        number(UInt32(text.count))
        bytes += text + [0]
    }

    mutating func text(_ text: String) { self.text(Array(text.utf8)) }

    mutating func signature(_ text: String) {
        bytes += [UInt8(text.utf8.count)] + Array(text.utf8) + [0]
    }

    /// An array whose elements begin at multiples of `size`.
    mutating func array(alignedTo size: Int, _ fill: (inout Marshal) -> Void) {
        number(0)
        let length = bytes.count - 4
        align(size)
        let start = bytes.count
        fill(&self)
        var count = Marshal()
        count.number(UInt32(bytes.count - start))
        bytes.replaceSubrange(length..<length + 4, with: count.bytes)
    }

    static func body(_ fill: (inout Marshal) -> Void) -> [UInt8] {
        var marshal = Marshal()
        fill(&marshal)
        return marshal.bytes
    }
}

/// A method call as bytes.
struct RawMessage {
    var destination: String
    var path: String
    var interface: String?
    var member: String
    var flags: UInt8
    var signature: String
    var body: [UInt8]

    static func call(
        _ destination: String, path: String = Sample.path.rawValue,
        interface: String? = Sample.interface.rawValue, member: String, noReply: Bool = false,
        signature: String = "", body: [UInt8] = []
    ) -> RawMessage {
        RawMessage(
            destination: destination, path: path, interface: interface, member: member,
            flags: noReply ? 1 : 0, signature: signature, body: body)
    }

    func bytes(serial: UInt32) -> [UInt8] {
        var message = Marshal(bytes: [UInt8(ascii: "l"), 1, flags, 1])
        message.number(UInt32(body.count))
        message.number(serial)
        message.array(alignedTo: 8) { fields in
            func field(_ code: UInt8, _ type: String, _ fill: (inout Marshal) -> Void) {
                fields.align(8)
                fields.bytes.append(code)
                fields.signature(type)
                fill(&fields)
            }
            field(1, "o") { $0.text(path) }
            if let interface { field(2, "s") { $0.text(interface) } }
            field(3, "s") { $0.text(member) }
            field(6, "s") { $0.text(destination) }
            if !signature.isEmpty { field(8, "g") { $0.signature(signature) } }
        }
        message.align(8)
        return message.bytes + body
    }
}

/// What is of interest in a message that came.
struct RawReply {
    let size: Int
    let isReply: Bool
    private(set) var replySerial: UInt32 = 0
    private(set) var errorName: String?

    /// The message at the beginning of `bytes`; `nil` when it is not complete.
    init?(_ bytes: [UInt8]) {
        func number(_ at: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) }
        }
        guard bytes.count >= 16 else { return nil }
        let end = 16 + number(12)
        size = (end + 7) / 8 * 8 + number(4)
        guard bytes.count >= size else { return nil }
        isReply = bytes[1] == 2 || bytes[1] == 3
        var at = 16
        while at < end {
            at = (at + 7) / 8 * 8
            let (code, type) = (bytes[at], bytes[at + 2])
            at += 4
            switch type {
            case UInt8(ascii: "u"):
                if code == 5 { replySerial = UInt32(number(at)) }
                at += 4
            case UInt8(ascii: "g"): at += Int(bytes[at]) + 2
            default:
                let length = number(at)
                if code == 4 {
                    errorName = String(decoding: bytes[at + 4..<at + 4 + length], as: UTF8.self)
                }
                at += length + 5
            }
        }
    }
}
