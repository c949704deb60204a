// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Bad input` {
    private struct Case {
        var policy: UInt32 = 1
        var reason = "open the safe"
        var options: [String: BusValue] = [:]
    }

    private func invalid(_ key: String, _ value: BusValue) -> Case { Case(options: [key: value]) }

    @Test func `is refused at once and never touches the reader`() async throws {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)
        let bytes = { (count: Int) in BusValue.bytes([UInt8](repeating: 7, count: count)) }
        let cases: [Case] = [
            Case(policy: 0), Case(policy: 3), Case(policy: .max),
            Case(reason: ""), Case(reason: "  \t\n"), Case(reason: "\u{200B}\u{200B}"),
            Case(reason: "\u{202E}\u{2066}"),
            Case(reason: String(repeating: "r", count: 1_025)),
            Case(reason: String(repeating: "é", count: 513)),
            Case(reason: String(repeating: "r", count: 10_000)),
            Case(reason: String(repeating: "r", count: 1 << 20)),
            invalid("colour", .string("red")), invalid("", .bool(true)),
            invalid("Token", .string("one")),
            invalid("token", .uint32(1)), invalid("timeout", .int32(5)),
            invalid("timeout", .string("5")), invalid("fallback-title", .bool(false)),
            invalid("cancel-title", .bytes([1])), invalid("interaction-not-allowed", .uint32(1)),
            invalid("reuse-duration", .uint64(1)), invalid("required-domain-state", .string("")),
            invalid("challenge", .string("sixteen bytes at")),
            invalid("parent-window", .bool(true)),
            invalid("user", .uint32(0)), invalid("token", .variant(.string("one"))),
            invalid("timeout", .uint32(0)), invalid("timeout", .uint32(171)),
            invalid("token", .string(String(repeating: "t", count: 65))),
            invalid("reuse-duration", .uint32(301)), invalid("challenge", bytes(15)),
            invalid("challenge", bytes(65)), invalid("user", .string("../root")),
            invalid("user", .string("")),
        ]
        for bad in cases {
            let name = await errorName { () throws(BusError) in
                try await client.evaluate(policy: bad.policy, reason: bad.reason, bad.options)
            }
            #expect(name == .invalidArgs, "\(bad.policy) \(bad.reason.prefix(20)) \(bad.options)")
        }
        for policy in [0, 3, .max] as [UInt32] {
            let name = await errorName { () throws(BusError) in try await client.can(policy) }
            #expect(name == .invalidArgs)
        }
        #expect(!service.storage.wasOpened)
        #expect(await client.heard.allSatisfy { $0 == .environmentChanged })
    }

    @Test func `of a promise that cannot be kept is refused, not ignored`() async throws {
        let (service, client) = try await enrolled()
        try await service.storage.waitUntilClosed()
        let cases: [(String, BusValue, ErrorName)] = [
            ("challenge", .bytes([UInt8](repeating: 1, count: 15)), .invalidArgs),
            ("required-domain-state", .bytes([]), ServiceError.domainStateChanged.name),
            ("required-domain-state", .bytes([1, 2]), ServiceError.domainStateChanged.name),
            ("interaction-not-allowed", .bool(true), ServiceError.notInteractive.name),
        ]
        for (key, value, expected) in cases {
            let name = await errorName { () throws(BusError) in
                try await client.evaluate([key: value])
            }
            #expect(name == expected)
        }
        #expect(!service.storage.isOpen)
        #expect(await client.heard.allSatisfy { if case .progress = $0 { false } else { true } })
    }

    @Test func `of another shape gets the standard errors`() async throws {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)
        #expect(await client.failure(of: EvaluateWithText.self, Single("1")) == .invalidArgs)
        #expect(await client.failure(of: EvaluateWithNothing.self, NoValues()) == .invalidArgs)
        #expect(await client.failure(of: EvaluateWithMore.self, .init()) == .invalidArgs)
        #expect(await client.failure(of: CanEvaluateText.self, Single("1")) == .invalidArgs)
        #expect(await client.failure(of: NoSuchMethod.self, NoValues()) == .unknownMethod)
        #expect(await client.failure(of: NoSuchInterface.self, NoValues()) == .unknownInterface)
        for path: ObjectPath in ["/org/example/LocalAuth/reader/9", "/org/example/Elsewhere"] {
            #expect(
                await client.failure(of: GetEnvironment.self, NoValues(), at: path)
                    == .unknownObject)
        }
        #expect(
            await client.failure(of: GetEnvironment.self, NoValues(), at: "/org/example")
                == .unknownInterface)
        #expect(await client.failure(of: SetText.self, .init("Version")) == .propertyReadOnly)
        #expect(await client.failure(of: SetText.self, .init("Colour")) == .unknownProperty)
        let get = GetProperty.Arguments(
            interface: Service.interface.rawValue, property: "Colour")
        #expect(await client.failure(of: GetProperty.self, get) == .unknownProperty)
        #expect(
            await client.failure(of: GetAllProperties.self, Single("org.example.No"))
                == .unknownInterface)
        #expect(!service.storage.wasOpened)
    }

    @Test func `of the management interface is refused`() async throws {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)
        let cases: [(String, [String: BusValue])] = [
            ("", [:]), ("right-toe", [:]), ("RIGHT-THUMB", [:]), ("any", [:]),
            ("right-thumb", ["speed": .bool(true)]), ("right-thumb", ["token": .uint32(1)]),
            ("right-thumb", ["token": .string(String(repeating: "t", count: 65))]),
            ("right-thumb", ["reader": .string("/org/example/LocalAuth/reader/1")]),
        ]
        for (finger, options) in cases {
            let name = await errorName { () throws(BusError) in
                try await client.enrol(finger, options)
            }
            #expect(name == .invalidArgs, "\(finger) \(options)")
        }
        for user in ["nobody-of-this-name", "../root", "a/b"] {
            let enrolment = EnrollFinger.Arguments(user: user, finger: "left-thumb", options: [:])
            let deletion = DeleteFingers.Arguments(user: user, fingers: [])
            #expect(await client.failure(of: EnrollFinger.self, enrolment) == .invalidArgs)
            #expect(await client.failure(of: DeleteFingers.self, deletion) == .invalidArgs)
            #expect(await client.failure(of: ListFingers.self, .init(user: user)) == .invalidArgs)
            #expect(await client.failure(of: ResetLockout.self, .init(user: user)) == .invalidArgs)
        }
        #expect(
            await errorName { () throws(BusError) in try await client.delete(["left-toe"]) }
                == .invalidArgs)
        // All of nothing is nothing.
        try await client.delete()
        #expect(
            await error(of: Task { try await client.delete(["left-thumb"]) }) == .noSuchFinger)
        #expect(!service.storage.wasOpened)
    }
}
