// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import LocalAuthContract
import LocalAuthModel
import Testing

@testable import LocalAuthService

@Suite struct `A request for an evaluation` {
    private static func request(
        policy: UInt32 = 1, reason: String = "open the safe", _ options: [String: BusValue] = [:]
    ) throws(BusError) -> EvaluationRequest {
        try EvaluationRequest(
            EvaluatePolicy.Arguments(policy: policy, localizedReason: reason, options: options),
            defaultTimeout: .seconds(20))
    }

    private static func error(_ options: [String: BusValue]) -> ErrorName? {
        do throws(BusError) {
            _ = try request(options)
            return nil
        } catch {
            return error.name
        }
    }

    @Test func `without options has the defaults`() throws {
        let request = try Self.request(policy: 2)
        #expect(request.policy == .deviceOwnerAuthentication)
        #expect(request.reason.text == "open the safe")
        #expect(request.token == "")
        #expect(request.timeout == .seconds(20))
        #expect(!request.interactionNotAllowed)
        #expect(request.user == nil)
        #expect(request.reuseDuration == .zero)
        #expect(request.requiredDomainState == nil)
        #expect(request.challenge == nil)
    }

    @Test(arguments: [UInt32(0), 3, 1_000, .max])
    func `has a policy that there is`(policy: UInt32) {
        #expect(throws: BusError(.invalidArgs, "there is no policy \(policy)")) {
            try Self.request(policy: policy)
        }
    }

    @Test(arguments: ["", " ", "\u{200b}", String(repeating: "x", count: 1_025)])
    func `has a reason`(reason: String) {
        #expect(throws: BusError.self) { try Self.request(reason: reason) }
    }

    private static let allowed: [(String, BusValue)] = [
        ("token", .string("")), ("token", .string(String(repeating: "t", count: 64))),
        ("timeout", .uint32(1)), ("timeout", .uint32(170)),
        ("fallback-title", .string("")), ("cancel-title", .string("Not now")),
        ("interaction-not-allowed", .bool(true)), ("reuse-duration", .uint32(0)),
        ("reuse-duration", .uint32(300)), ("parent-window", .string("x11:1")),
        ("user", .string("bob")),
        ("challenge", .bytes([UInt8](repeating: 0, count: 16))),
        ("challenge", .bytes([UInt8](repeating: 0, count: 64))),
    ]

    @Test(arguments: allowed) func `may have every option`(key: String, value: BusValue) {
        #expect(Self.error([key: value]) == nil)
    }

    private static let refused: [(String, BusValue)] = [
        ("token", .string(String(repeating: "t", count: 65))),
        ("token", .string(String(repeating: "\u{e9}", count: 33))),
        ("timeout", .uint32(0)), ("timeout", .uint32(171)), ("timeout", .uint32(.max)),
        ("reuse-duration", .uint32(301)),
        ("fallback-title", .string(String(repeating: "x", count: 1_025))),
        ("user", .string("")), ("user", .string("../root")), ("user", .string("a\u{0}b")),
        ("challenge", .bytes([UInt8](repeating: 0, count: 15))),
        ("challenge", .bytes([UInt8](repeating: 0, count: 65))),
        ("", .string("")), ("Token", .string("")), ("unknown", .bool(true)),
        ("tokens\n", .string("")),
    ]

    @Test(arguments: refused)
    func `has no option out of range, and none that is not known`(key: String, value: BusValue) {
        #expect(Self.error([key: value]) == .invalidArgs)
    }

    @Test(arguments: EvaluationOption.allCases)
    func `has every option in its own type`(option: EvaluationOption) {
        let values: [BusValue] = [
            .byte(1), .bool(true), .int32(1), .uint32(16), .int64(1), .string("x"),
            .objectPath("/"), .strings([]), .array(of: "y", []), .variant(.string("x")),
            .bytes([UInt8](repeating: 0, count: 16)),
        ]
        for value in values where value.typeSignature != option.signature {
            #expect(Self.error([option.rawValue: value]) == .invalidArgs)
        }
    }

    @Test(arguments: [0, 1, 32, 1_000])
    func `may require anything for a domain state`(count: Int) throws {
        let state = [UInt8](repeating: 9, count: count)
        let request = try Self.request(["required-domain-state": .bytes(state)])
        #expect(request.requiredDomainState == state)
    }

    @Test func `keeps what it was given`() throws {
        let request = try Self.request([
            "token": .string("t"), "timeout": .uint32(7), "user": .string("bob"),
            "interaction-not-allowed": .bool(true), "reuse-duration": .uint32(300),
            "challenge": .bytes(Array(1...20)),
        ])
        #expect(request.token == "t")
        #expect(request.timeout == .seconds(7))
        #expect(request.user == UserName("bob"))
        #expect(request.interactionNotAllowed)
        #expect(request.reuseDuration == .seconds(300))
        #expect(request.challenge == Array(1...20))
    }

    @Test func `quotes a stranger's words on one line`() {
        #expect(quoted("a\nb\u{7f}") == "'a?b?'")
        #expect(quoted(String(repeating: "x", count: 1_000)).count == 66)
    }
}

@Suite struct `The texts` {
    @Test(arguments: EvaluationError.allCases)
    func `name every ending as the contract does`(error: EvaluationError) {
        guard error != .limitsExceeded else {
            #expect(error.busError.name == .limitsExceeded)
            return
        }
        // One name for programs, two sentences for people.
        let name = error == .printsNotOnReader ? "biometryNotEnrolled" : "\(error)"
        let expected =
            "org.example.LocalAuth.Error." + name.prefix(1).uppercased() + name.dropFirst()
        #expect(error.busError.name.rawValue == expected)
        #expect(!error.busError.message.isEmpty)
    }

    @Test(arguments: ServiceError.allCases)
    func `know every error both ways`(error: ServiceError) {
        #expect(ServiceError(error.name) == error)
        #expect(ServiceError(.invalidArgs) == nil)
    }
}
