// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// python-dbusmock's logind, which others test their programs with: not made by us, and with no
/// more than it has.
private final class MockedLogind {
    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let mock = "org.freedesktop.DBus.Mock"
    private let bus: PrivateBus
    private let child: Child
    private let scratch: Scratch

    /// Returns when it has its name.
    init(_ bus: PrivateBus) async throws {
        self.bus = bus
        scratch = try Scratch()
        child = try Child(
            "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", "logind"],
            environment: bus.environment, log: scratch.file("log"))
        try await waitForOwner(of: FakeLogind.name, on: bus, by: child)
    }

    deinit { child.signal(SIGKILL) }

    private func tell(_ object: String, _ member: String, _ arguments: [String]) async throws {
        let result = try await run(
            "/usr/bin/busctl",
            ["--address=\(bus.address)", "call", Self.name, object, Self.mock, member] + arguments)
        #expect(result.status == 0, "\(result.errors)")
    }

    /// A session of this user's, in which every process is.
    func addSession() async throws {
        try await tell(
            Self.path, "AddSession", ["ssusb", "c1", "seat0", "\(getuid())", "somebody", "true"])
        try await tell(
            Self.path, "AddMethod",
            [
                "sssss", "org.freedesktop.login1.Manager", "GetSessionByPID", "u", "o",
                "ret='\(Self.path)/session/c1'",
            ])
    }

    func setSession(_ property: String, _ value: Bool) async throws {
        try await tell(
            "\(Self.path)/session/c1", "UpdateProperties",
            ["sa{sv}", "org.freedesktop.login1.Session", "1", property, "b", "\(value)"])
    }

    func addLid(isClosed: Bool) async throws {
        try await tell(
            Self.path, "AddProperty",
            ["ssv", "org.freedesktop.login1.Manager", "LidClosed", "b", "\(isClosed)"])
    }

    func moveLid(isClosed: Bool) async throws {
        try await tell(
            Self.path, "UpdateProperties",
            ["sa{sv}", "org.freedesktop.login1.Manager", "1", "LidClosed", "b", "\(isClosed)"])
    }

    func prepareForSleep(_ start: Bool) async throws {
        try await tell(
            Self.path, "EmitSignal",
            [
                "sssav", "org.freedesktop.login1.Manager", "PrepareForSleep", "b", "1", "b",
                "\(start)",
            ])
    }
}

@Suite(.timeLimit(.minutes(1))) struct `With the logind that others test with` {
    @Test func `sessions, lid and sleep count all the same`() async throws {
        let bus = try await PrivateBus()
        let logind = try await MockedLogind(bus)
        try await logind.addSession()
        try await logind.addLid(isClosed: false)
        let service = try await TestService(
            .storage, configuration: "[Authorization]\nAuthority=local\n", bus: bus)
        let client = try await TestClient(bus)
        try await enrol("left-thumb", with: service.hand(on: .storage), by: client)
        #expect(try await client.can().code == 0)
        for property in ["Remote", "LockedHint"] {
            try await logind.setSession(property, true)
            try await client.waitUntilCan(-1004)
            try await logind.setSession(property, false)
            try await client.waitUntilCan(0)
        }
        // Its state stays what it was, which logind's would not.
        try await logind.setSession("Active", false)
        try await client.waitUntilCan(-1004)
        try await logind.setSession("Active", true)
        try await client.waitUntilCan(0)

        let evaluation = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        // It gives out no inhibitors.
        try await logind.prepareForSleep(true)
        #expect(await error(of: evaluation) == .systemCancel)
        try await client.waitUntilCan(-6)
        try await logind.prepareForSleep(false)
        try await client.waitUntilCan(0)

        try await logind.moveLid(isClosed: true)
        try await client.waitUntilCan(-6)
        try await logind.moveLid(isClosed: false)
        try await client.waitUntilCan(0)
        let accepted = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        try await service.hand(on: .storage).touch(number: 1)
        #expect(try await accepted.value["method"] == .string("biometrics"))
    }
}
