// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication
import TestKit
import Testing

/// What becomes of contexts without a service, without a bus, and when either ends.
@Suite(.timeLimit(.minutes(1))) struct `A context without a service` {
    @Test func `says what to install where there is none`() async throws {
        let bus = try await PrivateBus()
        let context = LAContext(link: ServiceLink(address: bus.address))
        let error = try await context.whyNot()
        #expect(error?.code == .biometryNotAvailable)
        #expect(error?.localizedDescription.contains("Install the package") == true)
        #expect(context.biometryType == .none)
        let evaluation = await EndToEndTests.error {
            try await context.evaluatePolicy(
                .deviceOwnerAuthentication, localizedReason: "open the safe")
        }
        #expect(evaluation?.code == .biometryNotAvailable)
        #expect(evaluation?.localizedDescription.contains("Install the package") == true)
    }

    @Test func `says that it cannot be reached where there is no bus`() async throws {
        let context = LAContext(link: ServiceLink(address: "unix:path=/nonexistent/bus"))
        let error = try await context.whyNot()
        #expect(error?.code == .biometryNotAvailable)
        #expect(error?.localizedDescription == "The LocalAuth service cannot be reached.")
        #expect(await context.reply().value.code == .biometryNotAvailable)
    }

    @Test func `is ended by the service's end, and served by the next one`() async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        let reply = context.reply()
        await scene.watcher.fingerIsNeeded()
        scene.service.daemon.signal(SIGKILL)
        #expect(await reply.value == Replied(success: false, code: .systemCancel))
        await scene.service.daemon.wait()
        try await scene.service.restart()
        _ = try await scene.watcher.call(Watch.self, NoValues())
        // The virtual reader forgets its prints with the process.
        try await enrol("left-thumb", as: "new", on: scene.service, by: scene.watcher)
        let next = context.reply()
        try await scene.touch("new")
        #expect(await next.value.success)
    }

    @Test func `survives a bus that is started anew`() async throws {
        let scratch = try Scratch()
        let path = scratch.file("bus")
        let first = try await TestService(.storage)
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: first.bus.socket)
        let context = LAContext(link: ServiceLink(address: "unix:path=\(path)"))
        #expect(try await context.can() == .biometryNotEnrolled)
        let client = try await TestClient(first.bus)
        try await enrol(on: first, by: client)
        _ = try await client.call(Watch.self, NoValues())
        let reply = context.reply()
        await client.fingerIsNeeded()
        kill(first.bus.processID, SIGKILL)
        #expect(await reply.value == Replied(success: false, code: .systemCancel))
        #expect(try await context.can() == .biometryNotAvailable)
        let second = try await TestService(.storage)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: second.bus.socket)
        #expect(try await context.can() == .biometryNotEnrolled)
        let another = try await TestClient(second.bus)
        try await enrol(on: second, by: another)
        _ = try await another.call(Watch.self, NoValues())
        let next = context.reply()
        await another.fingerIsNeeded()
        try second.storage.send("SCAN mine")
        #expect(await next.value.success)
    }
}

extension PrivateBus {
    /// The path of its socket.
    var socket: String { String(address.dropFirst("unix:path=".count)) }
}
