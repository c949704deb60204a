// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import LocalAuthModel
import Testing

@testable import SystemAuthorities

/// What makes a session one in which somebody sits at the machine, property by property.
@Suite struct `A session` {
    private static let alice: UInt32 = 1000

    /// One that is good in every respect.
    private static func values(_ changes: [String: BusValue?] = [:]) -> [String: BusValue] {
        var values: [String: BusValue] = [
            "Active": .bool(true), "Remote": .bool(false), "LockedHint": .bool(false),
            "State": .string("active"), "Class": .string("user"), "Type": .string("tty"),
            "Seat": .structure([.string("seat0"), .objectPath("/seat")]),
            "User": .structure([.uint32(alice), .objectPath("/user")]),
        ]
        for (name, value) in changes { values[name] = value }
        return values
    }

    private func presence(
        _ changes: [String: BusValue?], of user: UInt32 = alice, isOwn: Bool = false
    ) throws -> Presence? {
        SessionFacts(Self.values(changes))?.presence(
            of: try #require(UserID(user)), isOwn: isOwn)
    }

    @Test(arguments: ["user", "user-early", "user-light", "user-early-light"])
    func `of a user counts, whatever it shows`(kind: String) throws {
        for type in ["tty", "x11", "wayland", "mir", "web", "unspecified", ""] {
            #expect(
                try presence(["Class": .string(kind), "Type": .string(type)]) == .present)
        }
        #expect(try presence(["Type": nil]) == .present)
        #expect(try presence(["LockedHint": nil]) == .present)
    }

    @Test(arguments: [
        "greeter", "lock-screen", "user-incomplete", "background", "background-light", "manager",
        "manager-early", "none", "", "USER", "user ",
    ])
    func `of another kind does not`(kind: String) throws {
        #expect(try presence(["Class": .string(kind)]) == .absent)
    }

    @Test func `that opens or closes does not`() throws {
        for state in ["opening", "closing"] {
            #expect(try presence(["State": .string(state)]) == .absent)
        }
        // Whether it is the one at its seat is said elsewhere.
        #expect(try presence(["State": .string("online")]) == .present)
        #expect(try presence(["State": .string("online"), "Active": .bool(false)]) == .absent)
    }

    @Test func `that is inactive, remote, locked or without a seat does not`() throws {
        #expect(try presence(["Active": .bool(false)]) == .absent)
        #expect(try presence(["Remote": .bool(true)]) == .absent)
        #expect(try presence(["LockedHint": .bool(true)]) == .absent)
        let seat = BusValue.structure([.string(""), .objectPath("/")])
        #expect(try presence(["Seat": seat]) == .absent)
    }

    @Test func `of somebody else counts for root only, and not as root's desktop`() throws {
        #expect(try presence([:], of: 1001) == .absent)
        #expect(try presence([:], of: 0) == .present)
        #expect(try presence([:], of: 0, isOwn: true) == .absent)
        #expect(try presence([:], isOwn: true) == .present)
        #expect(try presence(["Active": .bool(false)], of: 0) == .absent)
        // Numbers that look the same with a sign are not.
        let large = BusValue.structure([.uint32(4_294_967_294), .objectPath("/user")])
        #expect(try presence(["User": large], of: 4_294_967_294) == .present)
        #expect(try presence(["User": large]) == .absent)
    }

    @Test(arguments: ["Active", "Remote"])
    func `that is not said to be active and local is unknown`(name: String) throws {
        #expect(try presence([name: nil]) == nil)
    }

    @Test(arguments: ["LockedHint", "State", "Class", "Seat", "User"])
    func `of which nothing else is said counts`(name: String) throws {
        #expect(try presence([name: nil]) == .present)
        #expect(try presence([name: nil, "Active": .bool(false)]) == .absent)
    }

    @Test(arguments: ["Active", "Remote", "LockedHint", "State", "Class", "Seat", "User"])
    func `with a property of another type is unknown`(name: String) throws {
        let others: [BusValue] = [
            .uint32(1), .int32(1000), .bytes([]), .variant(.bool(true)), .structure([]),
            .structure([.uint32(Self.alice)]), .structure([.string("seat0")]),
            .structure([.int32(1000), .objectPath("/")]), .array(of: "s", []),
            .structure([.string("1000"), .objectPath("/"), .bool(true)]), .double(1),
        ]
        for other in others { #expect(try presence([name: other]) == nil, "\(other)") }
    }

    @Test func `is a desktop where logind names one`() {
        let display = BusValue.structure([.string("c1"), .objectPath("/c1")])
        #expect(SessionFacts.display(of: ["Display": display]) == "/c1")
        let others: [BusValue?] = [
            nil, .structure([.string(""), .objectPath("/")]), .structure([.string("c1")]),
            .structure([.string("c1"), .string("/c1")]), .objectPath("/c1"), .string("c1"),
            .structure([.objectPath("/c1"), .string("c1")]),
        ]
        for other in others {
            #expect(
                SessionFacts.display(of: ["Display": other].compactMapValues(\.self)) == nil)
        }
    }
}
