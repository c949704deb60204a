// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import Foundation
import Testing

/// What a bus says of a connection, or something that should be that.
@Suite struct `Credentials` {
    private func parse(_ more: [String: BusValue]) -> PeerCredentials? {
        PeerCredentials(["UnixUserID": .uint32(1000)].merging(more) { $1 })
    }

    @Test func `are taken as the bus gives them`() throws {
        let descriptor = SharedDescriptor(adopting: dup(0))
        let found = try #require(
            parse([
                "ProcessID": .uint32(42), "ProcessFD": .descriptor(descriptor),
                "LinuxSecurityLabel": .bytes(Array("unconfined\0".utf8)),
                "UnixGroupIDs": .array(of: "u", []), "SomethingNew": .string(""),
            ]))
        #expect(found.userID == 1000)
        #expect(found.processID == 42)
        #expect(found.processDescriptor == descriptor)
        #expect(found.securityLabel == "unconfined")
    }

    @Test(arguments: [0, 1000, 4_000_000_000, .max - 1] as [UInt32])
    func `have the user as an unsigned number`(user: UInt32) {
        #expect(PeerCredentials(["UnixUserID": .uint32(user)])?.userID == user)
    }

    @Test(
        arguments: [
            nil, .uint32(.max), .int32(-1), .int32(0), .uint64(0), .string("0"), .bool(false),
            .bytes([]), .variant(.uint32(0)), .structure([.uint32(0)]), .array(of: "u", []),
        ] as [BusValue?])
    func `without a user are nobody's, never root's`(user: BusValue?) {
        #expect(PeerCredentials(["UnixUserID": user].compactMapValues(\.self)) == nil)
    }

    @Test(
        arguments: [
            .uint32(0), .uint32(.max), .uint32(1 << 31), .int32(42), .uint64(42), .string("42"),
            .variant(.uint32(42)),
        ] as [BusValue])
    func `with an impossible process have none`(process: BusValue) throws {
        let descriptor = BusValue.descriptor(SharedDescriptor(adopting: dup(0)))
        let found = try #require(parse(["ProcessID": process, "ProcessFD": descriptor]))
        #expect(found.processID == nil)
        #expect(found.processDescriptor == nil)
    }

    @Test(arguments: [.uint32(0), .int32(7), .string("h"), .bytes([7])] as [BusValue])
    func `with something else for a descriptor have none`(value: BusValue) throws {
        let found = try #require(parse(["ProcessID": .uint32(42), "ProcessFD": value]))
        #expect(found.processID == 42)
        #expect(found.processDescriptor == nil)
    }

    @Test(
        arguments: [
            .bytes([]), .bytes([0]), .bytes(Array("no end".utf8)), .bytes([0x61, 0, 0x62, 0]),
            .bytes([0x61, 0, 0]), .bytes([0xff, 0xfe, 0]), .bytes([0xc0, 0x80, 0]),
            .bytes([0xed, 0xa0, 0x80, 0]), .string("unconfined"), .array(of: "y", []),
            .bytes(Array(repeating: 0x61, count: 4096) + [0]),
            .bytes(Array(repeating: 0x61, count: 1 << 20) + [0]),
        ] as [BusValue])
    func `with a malformed label have none`(label: BusValue) throws {
        #expect(try #require(parse(["LinuxSecurityLabel": label])).securityLabel == nil)
    }

    @Test func `may have a label of a page`() {
        let label = BusValue.bytes(Array(repeating: 0x61, count: 4095) + [0])
        #expect(parse(["LinuxSecurityLabel": label])?.securityLabel?.utf8.count == 4095)
    }
}
