// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import SystemSupport
import TestKit

/// A caller that speaks the protocol by itself and leaves as soon as it has called: no library
/// does that.
struct RawCaller {
    struct Refused: Error {}

    private let path: String
    private let login: [UInt8]
    private static let hello = message(
        to: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus", member: "Hello", flags: 0, serial: 1)

    init(_ bus: PrivateBus) throws {
        let address = bus.address
        guard let start = address.firstRange(of: "path=")?.upperBound else { throw Refused() }
        path = String(address[start...].prefix { $0 != "," })
        let user = "\(geteuid())".utf8.map { String($0, radix: 16) }.joined()
        login = Array("\0AUTH EXTERNAL \(user)\r\nBEGIN\r\n".utf8)
    }

    /// So many connect, call `EvaluatePolicy` and leave without a look at its answer. Side by
    /// side, so that a busy machine does not make each wait for its turn.
    func callAndLeave(_ count: Int) throws {
        let sockets = try (0..<count).map { number in
            let socket = SharedSocket(try VirtualSocket.connect(to: path))
            // Every other one wants no reply, which is 1.
            let call = Self.evaluation(flags: number % 2 == 0 ? 0 : 1)
            try write(login + Self.hello + call, to: socket.number)
            return socket
        }
        for socket in sockets {
            // The bus agrees to who we are, and then gives us a name: of us it will be told that
            // we have left.
            var answer: [UInt8] = []
            repeat {
                answer += try read(from: socket.number)
            } while answer.last == UInt8(ascii: "\n")
            guard answer.starts(with: Array("OK ".utf8)) else { throw Refused() }
        }
    }

    private final class SharedSocket {
        private let descriptor: Descriptor
        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
        var number: Int32 { descriptor.rawValue }
    }

    private static func evaluation(flags: UInt8) -> [UInt8] {
        message(
            to: "org.example.LocalAuth", path: "/org/example/LocalAuth",
            interface: "org.example.LocalAuth", member: "EvaluatePolicy", flags: flags,
            serial: 2, signature: "usa{sv}"
        ) { body in
            body.number(1)
            body.text("leave")
            // No options; their place begins at a multiple of eight.
            body.number(0)
            body.align(8)
        }
    }

    private func write(_ bytes: [UInt8], to socket: Int32) throws {
        // SAFETY: the bytes live through the call.
        let count = unsafe bytes.withUnsafeBytes { bytes in
            unsafe send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        guard count == bytes.count else { throw Refused() }
    }

    private func read(from socket: Int32) throws -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: 1024)
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        // SAFETY: one entry; at most the buffer is written.
        let count = unsafe bytes.withUnsafeMutableBytes { buffer -> Int in
            guard unsafe poll(&entry, 1, 10_000) == 1 else { return -1 }
            return unsafe recv(socket, buffer.baseAddress, buffer.count, 0)
        }
        guard count > 0 else { throw Refused() }
        return bytes[..<count]
    }

    // MARK: Messages

    /// Little-endian D-Bus values, one after the other.
    private struct Writer {
        var bytes: [UInt8] = []

        mutating func align(_ size: Int) {
            while bytes.count % size != 0 { bytes.append(0) }
        }

        mutating func number(_ value: UInt32) {
            align(4)
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }

        mutating func text(_ value: String) {
            number(UInt32(value.utf8.count))
            bytes += Array(value.utf8) + [0]
        }

        mutating func signature(_ value: String) {
            bytes += [UInt8(value.utf8.count)] + Array(value.utf8) + [0]
        }

        mutating func field(_ code: UInt8, _ type: String, _ value: String) {
            align(8)
            bytes.append(code)
            signature(type)
            if type == "g" { signature(value) } else { text(value) }
        }
    }

    private static func message(
        to destination: String, path: String, interface: String, member: String, flags: UInt8,
        serial: UInt32, signature: String = "", body fill: (inout Writer) -> Void = { _ in }
    ) -> [UInt8] {
        var body = Writer()
        fill(&body)
        // Aligned as in the message, where they begin at a multiple of eight.
        var fields = Writer()
        fields.field(1, "o", path)
        fields.field(2, "s", interface)
        fields.field(3, "s", member)
        fields.field(6, "s", destination)
        if !signature.isEmpty { fields.field(8, "g", signature) }
        var head = Writer(bytes: [UInt8(ascii: "l"), 1, flags, 1])
        head.number(UInt32(body.bytes.count))
        head.number(serial)
        head.number(UInt32(fields.bytes.count))
        head.bytes += fields.bytes
        head.align(8)
        return head.bytes + body.bytes
    }
}
