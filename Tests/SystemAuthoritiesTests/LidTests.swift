// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthModel
import SystemAuthorities
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The lid` {
    private static let closed = LidState(isClosed: true, isDocked: false)
    private static let docked = LidState(isClosed: true, isDocked: true)

    @Test func `is told at the start, and then each change once`() async throws {
        var machine = FakeLogind.Machine()
        machine.isLidClosed = .bool(true)
        try await withMachine(logind: machine) { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            #expect(fixture.lids.entries == [Self.closed])
            logind.changeLid(.bool(true))
            logind.changeDock(.bool(true))
            await fixture.lids.has(Self.docked)
            logind.changeLid(.bool(false))
            logind.changeDock(.bool(false))
            await fixture.lids.has(.open)
            try await fixture.settle()
            #expect(
                fixture.lids.entries == [
                    Self.closed, Self.docked, LidState(isClosed: false, isDocked: true), .open,
                ])
        }
    }

    @Test func `is asked for where only its change is told`() async throws {
        try await withMachine { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            logind.invalidateLid(.bool(true))
            await fixture.lids.has(Self.closed)
            #expect(fixture.lids.entries == [.open, Self.closed])
        }
    }

    @Test func `brings the dock along, of which logind does not tell`() async throws {
        try await withMachine { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            logind.changeDock(.bool(true), tells: false)
            logind.changeLid(.bool(true))
            await fixture.lids.has(Self.docked)
        }
    }

    @Test func `is open where logind does not say`() async throws {
        var machine = FakeLogind.Machine()
        machine.isLidClosed = nil
        machine.isDocked = nil
        machine.isPreparingForSleep = nil
        try await withMachine(logind: machine) { fixture, logind in
            await fixture.start()
            #expect(fixture.lids.entries == [.open])
            #expect(fixture.told.entries == [])
            await logind?.inhibitorCounts.next { $0 == 1 }
        }
    }

    @Test(arguments: [
        BusValue.string("true"), .uint32(1), .byte(1), .variant(.bool(true)), .bytes([1]),
        .array(of: "b", [.bool(true)]),
    ])
    func `is open where logind says something else`(value: BusValue) async throws {
        var machine = FakeLogind.Machine()
        machine.isLidClosed = value
        machine.isDocked = value
        machine.isPreparingForSleep = value
        try await withMachine(logind: machine) { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            logind.changeLid(value)
            logind.changeDock(value)
            try await fixture.settle()
            #expect(fixture.lids.entries == [.open])
            #expect(fixture.told.entries == [])
        }
    }

    @Test func `is open when logind has gone, and looked at when it is back`() async throws {
        var machine = FakeLogind.Machine()
        machine.isLidClosed = .bool(true)
        try await withMachine(logind: machine) { [machine] fixture, logind in
            await fixture.start()
            logind?.close()
            await fixture.lids.has(.open)
            let heir = try await FakeLogind(fixture.bus, machine: machine)
            await fixture.lids.has(Self.closed, times: 2)
            #expect(fixture.lids.entries == [Self.closed, .open, Self.closed])
            heir.close()
        }
    }

    @Test func `is nobody else's to tell`() async throws {
        try await withMachine { fixture, logind in
            await fixture.start()
            let forger = try BusConnection(address: fixture.bus.address)
            forger.send(
                PropertiesChanged.self,
                PropertiesChanged.Arguments(
                    interface: "org.freedesktop.login1.Manager",
                    changed: ["LidClosed": .bool(true)], invalidated: []),
                from: "/org/freedesktop/login1", to: fixture.connection.uniqueName)
            _ = try await forger.credentials(of: forger.uniqueName, deadline: .seconds(30))
            try await fixture.settle()
            #expect(fixture.lids.entries == [.open])
            forger.close()
        }
    }
}
