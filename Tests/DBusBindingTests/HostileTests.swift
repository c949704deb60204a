// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A sender of odd bytes` {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let signature: String
        let body: [UInt8]
        /// Whether the bus itself hangs up, and the service never hears of it.
        var isCutOff = false
    }

    private static func variants(_ count: Int) -> [UInt8] {
        Marshal.body { body in
            for _ in 1..<count { body.signature("v") }
            body.signature("y")
            body.bytes.append(7)
        }
    }

    private static func entries(_ keys: [String]) -> [UInt8] {
        Marshal.body { body in
            body.array(alignedTo: 8) { array in
                for key in keys {
                    array.align(8)
                    array.text(key)
                    array.signature("s")
                    array.text("value of " + key)
                }
            }
        }
    }

    static let rows = [
        Row(testDescription: "63 variants in each other", signature: "v", body: variants(63)),
        Row(testDescription: "64 variants in each other", signature: "v", body: variants(64)),
        Row(
            testDescription: "100 variants in each other", signature: "v", body: variants(100),
            isCutOff: true),
        Row(testDescription: "no entries", signature: "a{sv}", body: entries([])),
        Row(testDescription: "the same key twice", signature: "a{sv}", body: entries(["a", "a"])),
        Row(
            testDescription: "the same key 500 times", signature: "a{sv}",
            body: entries(Array(repeating: "a", count: 500))),
        Row(
            testDescription: "empty arrays of arrays", signature: "aaaaaay",
            body: Marshal.body { $0.number(0) }),
        Row(
            testDescription: "31 arrays", signature: String(repeating: "a", count: 31) + "y",
            body: Marshal.body { $0.number(0) }),
        Row(
            testDescription: "31 structures",
            signature: String(repeating: "(", count: 31) + "y" + String(repeating: ")", count: 31),
            body: [1]),
        Row(
            testDescription: "a variant of an empty array of structures", signature: "v",
            body: Marshal.body { body in
                body.signature("a(ss)")
                body.array(alignedTo: 8) { _ in }
            }),
        Row(
            testDescription: "a signature in a variant", signature: "v",
            body: Marshal.body { body in
                body.signature("g")
                body.signature("a{s(ii)}")
            }),
        Row(
            testDescription: "many values", signature: String(repeating: "y", count: 255),
            body: [UInt8](repeating: 1, count: 255)),
        Row(
            testDescription: "text that is not UTF-8", signature: "s",
            body: Marshal.body { $0.text([0xc3, 0x28]) }, isCutOff: true),
        Row(
            testDescription: "text with a NUL", signature: "s",
            body: Marshal.body { $0.text([0x61, 0, 0x62]) }, isCutOff: true),
        Row(
            testDescription: "half a surrogate", signature: "s",
            body: Marshal.body { $0.text([0xed, 0xa0, 0x80]) }, isCutOff: true),
        Row(
            testDescription: "a truth that is neither", signature: "b",
            body: Marshal.body { $0.number(2) }, isCutOff: true),
        Row(
            testDescription: "a path that is none", signature: "o",
            body: Marshal.body { $0.text("a") }, isCutOff: true),
        Row(
            testDescription: "less than was promised", signature: "ss",
            body: Marshal.body { $0.text("a") }, isCutOff: true),
        Row(
            testDescription: "an array that is too long", signature: "ay",
            body: Marshal.body { $0.number(.max) }, isCutOff: true),
        Row(
            testDescription: "no signature at all", signature: "", body: [1, 2, 3], isCutOff: true),
        Row(
            testDescription: "a descriptor that was not sent", signature: "h",
            body: Marshal.body { $0.number(0) }),
        Row(
            testDescription: "a descriptor that was not sent, in a variant", signature: "v",
            body: Marshal.body { body in
                body.signature("h")
                body.number(7)
            }),
    ]

    @Test func `is answered or cut off, and harms nobody else`() async throws {
        try await withPair { pair in
            let server = pair.server.uniqueName.rawValue
            pair.serve {
                $0.serve(Ask.self) { arguments, _ in arguments }
                $0.serve(Variant.self) { arguments, _ in arguments }
                $0.serve(Options.self) { arguments, _ in arguments }
                $0.serve(Echo<SharedDescriptor>.self) { arguments, _ in arguments }
            }
            for row in Self.rows {
                let raw = try RawPeer(pair.bus)
                for member in ["Ask", "Echo", "Variant", "Options", "Unknown"] {
                    raw.send(
                        .call(server, member: member, signature: row.signature, body: row.body))
                    let reply = await raw.nextReply()
                    #expect((reply == nil) == row.isCutOff, "\(row.testDescription): \(member)")
                }
                raw.close()
                #expect(await pair.error(of: Ask.self, NoValues()) == nil)
            }
        }
    }

    @Test func `that says a key twice is believed the last time`() async throws {
        try await withPair { pair in
            let seen = Journal<[String: BusValue]>()
            pair.serve {
                $0.serve(Options.self) { arguments, _ in
                    seen.add(arguments.value)
                    return arguments
                }
            }
            let raw = try RawPeer(pair.bus)
            var body = Self.entries(["a", "a"])
            body[body.count - 2] = UInt8(ascii: "z")
            raw.send(
                .call(
                    pair.server.uniqueName.rawValue, member: "Options", signature: "a{sv}",
                    body: body))
            #expect(await raw.nextReply() != nil)
            #expect(seen.entries == [["a": .string("value of z")]])
        }
    }

    @Test func `that goes at once after its call is nobody's trouble`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Ask.self) { arguments, _ in arguments } }
            for _ in 0..<50 {
                let raw = try RawPeer(pair.bus)
                raw.send(.call(pair.server.uniqueName.rawValue, member: "Ask"))
                raw.close()
            }
            #expect(await pair.error(of: Ask.self, NoValues()) == nil)
        }
    }

    private enum Variant: BusMethod {
        typealias Arguments = Single<BusValue>
        typealias Reply = Single<BusValue>
        static let interface = Sample.interface
        static let member: MemberName = "Variant"
    }

    private enum Options: BusMethod {
        typealias Arguments = Single<[String: BusValue]>
        typealias Reply = Single<[String: BusValue]>
        static let interface = Sample.interface
        static let member: MemberName = "Options"
    }
}
