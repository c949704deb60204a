// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Values on the bus` {
    private static let objectPath = BusValue.objectPath("/a/b")

    static let values: [BusValue] = [
        .byte(0), .byte(255), .bool(true), .bool(false), .int16(.min), .uint16(.max),
        .int32(.min), .uint32(.max), .int64(.min), .uint64(.max), .double(-0.5),
        .double(.infinity), .string(""), .string("\u{5d4}\u{1f512}\u{fffd}"),
        .objectPath("/"), objectPath, .signature(""), .signature("a{oa{sa{sv}}}"),
        .bytes([]), .bytes([0, 1, 255]), .strings([]), .strings(["", "x"]), .objectPaths([]),
        .array(of: "(ib)", []), .array(of: "ay", [.bytes([]), .bytes([1])]),
        .array(of: "v", [.variant(.byte(1)), .variant(.string("x"))]),
        .array(of: "{sv}", []), .array(of: "a{sv}", []),
        .array(of: "{sv}", [.entry(.string("k"), .variant(.strings([])))]),
        .structure([.byte(1), .structure([.string("x"), .bytes([])])]),
        .variant(.variant(.variant(.uint32(7)))),
        .array(
            of: "{oa{sa{sv}}}",
            [
                .entry(
                    objectPath,
                    .array(
                        of: "{sa{sv}}",
                        [
                            .entry(
                                .string("i"),
                                .array(of: "{sv}", [.entry(.string("p"), .variant(.byte(1)))]))
                        ]))
            ]),
    ]

    @Test func `come back as they were sent`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Echo<BusValue>.self) { arguments, _ in arguments } }
            for value in Self.values {
                let back = try await pair.call(Echo.self, Single(value)).value
                #expect(back == value)
            }
        }
    }

    @Test func `can be nested as deep as the bus allows`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Echo<BusValue>.self) { arguments, _ in arguments } }
            // 64 containers, the outermost of which is the argument itself.
            var value = BusValue.byte(1)
            for _ in 0..<63 { value = .variant(value) }
            let back = try await pair.call(Echo.self, Single(value)).value
            #expect(back == value)
        }
    }

    @Test func `of Swift's types come back as they were sent`() async throws {
        try await withPair { pair in
            try await echo(pair, UInt8(200))
            try await echo(pair, true)
            try await echo(pair, false)
            try await echo(pair, Int32.min)
            try await echo(pair, UInt32.max)
            try await echo(pair, Int64.min)
            try await echo(pair, UInt64.max)
            try await echo(pair, 0.1)
            try await echo(pair, "\u{e9}")
            try await echo(pair, ObjectPath("/x"))
            try await echo(pair, [UInt8]())
            try await echo(pair, [UInt8](0...255))
            try await echo(pair, [String]())
            try await echo(pair, [["a"], [], ["b", "c"]])
            try await echo(pair, [String: UInt32]())
            try await echo(pair, ["a": UInt32(1), "b": 2])
            try await echo(pair, [UInt32(3): ["x": BusValue.bytes([])]])
            let objects: [ObjectPath: [String: [String: BusValue]]] = [
                "/a": ["i": ["p": .strings([])], "j": [:]], "/b": [:],
            ]
            try await echo(pair, objects)
        }
    }

    @BusQueue private func echo<T: BusType & Equatable>(_ pair: Pair, _ value: T) async throws {
        pair.serve { $0.serve(Echo<T>.self) { arguments, _ in arguments } }
        let back = try await pair.call(Echo.self, Single(value)).value
        #expect(back == value)
    }

    @Test func `are refused when they are of another type`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Echo<[String: BusValue]>.self) { arguments, _ in arguments } }
            for wrong in [BusValue.byte(1), .strings([]), .structure([.byte(1)])] {
                #expect(await pair.error(of: Echo.self, Single(wrong)) == .invalidArgs)
            }
            #expect(await pair.error(of: Echo.self, Single([String: String]())) == .invalidArgs)
            #expect(await pair.error(of: Echo.self, Single("")) == .invalidArgs)
        }
    }

    @Test func `in a reply of another type are an error`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(WrongReply.self) { _, _ in Single(7) } }
            #expect(await pair.error(of: Echo.self, Single("x")) == .failed)
        }
    }

    @Test func `may be as large as a message`() async throws {
        try await withPair { pair in
            pair.serve {
                $0.serve(Length.self) { text, _ in Single(UInt32(text.value.utf8.count)) }
            }
            let size = 31 * 1_024 * 1_024
            let text = String(repeating: "x", count: size)
            let length = try await pair.call(Length.self, Single(text)).value
            #expect(length == UInt32(size))
        }
    }

    /// Takes what `Echo` of a text takes, and gives something else.
    private enum WrongReply: BusMethod {
        typealias Arguments = Single<String>
        typealias Reply = Single<UInt32>
        static let interface = Sample.interface
        static let member: MemberName = "Echo"
    }

    private enum Length: BusMethod {
        typealias Arguments = Single<String>
        typealias Reply = Single<UInt32>
        static let interface = Sample.interface
        static let member: MemberName = "Length"
    }
}

@Suite struct `A name on the bus` {
    @Test(arguments: [":1.0", ":1.42", ":a.b-c_d"]) func `is unique`(text: String) {
        #expect(UniqueName(text)?.rawValue == text)
    }

    @Test(arguments: [
        "", "1", "1.0", "org.example.A", ":1.0\u{0}", ":1..0", ":1.0 ",
        ":1." + String(repeating: "0", count: 256),
    ])
    func `is not unique`(text: String) { #expect(UniqueName(text) == nil) }

    @Test(arguments: ["/", "/a", "/a/b_1"]) func `is a path`(text: String) {
        #expect(ObjectPath(text)?.rawValue == text)
    }

    @Test(arguments: ["", "a", "/a/", "//", "/a-b", "/a\u{0}", "/\u{e9}"])
    func `is no path`(text: String) { #expect(ObjectPath(text) == nil) }

    @Test(arguments: ["", "a", "a..b", "org.example.", "a.1", "a.b\u{0}"])
    func `is no error`(text: String) { #expect(ErrorName(text) == nil) }

    @Test func `that is wrong in our own source stops the program`() async {
        await #expect(processExitsWith: .failure) { _ = InterfaceName(stringLiteral: "x") }
        await #expect(processExitsWith: .failure) { _ = MemberName(stringLiteral: "a.b") }
        await #expect(processExitsWith: .failure) { _ = BusName(stringLiteral: "") }
    }
}
