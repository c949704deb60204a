// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import SystemSupport
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A hostile peer` {
    @Test func `that calls and leaves at once, a thousand times, costs nothing`() async throws {
        let (service, client) = try await enrolled()
        try await touch(service.storage, by: client)
        // Calls that come faster than they are served wait in memory, of which the allocator keeps
        // what it once had, and on a busy machine more of them wait now and then. What is lost with
        // each caller would be lost in every round.
        var before = try await round(service, client)
        var after = try await round(service, client)
        for _ in 1...3 where after.residentKiB - before.residentKiB >= Figures.allocatorKiB {
            before = after
            after = try await round(service, client)
        }
        #expect(try await client.can().code == 0)
        #expect(try await client.attemptsLeft() == 5)
        #expect(service.daemon.isRunning)
        after.expectNoMore(than: before)
        print("a thousand callers that leave: \(before) -> \(after)")
    }

    /// A thousand callers; what the daemon takes after them.
    private func round(_ service: TestService, _ client: TestClient) async throws -> Figures {
        for _ in 0..<1_000 { try await callAndLeave(service.bus) }
        try await touch(service.storage, by: client)
        return try await Figures(of: service, by: client)
    }

    @BusQueue private func callAndLeave(_ bus: PrivateBus) async throws {
        let connection = try BusConnection(address: bus.address)
        let call = Task.immediate { @BusQueue in
            try? await connection.call(
                EvaluatePolicy.self,
                EvaluatePolicy.Arguments(policy: 1, localizedReason: "leave", options: [:]),
                of: .service(Service.name), at: Service.path, deadline: nil)
        }
        connection.close()
        // Every call is answered, if only by the end of the connection.
        _ = await call.value
    }

    @Test func `that wants no reply gets none, and the next one is served`() async throws {
        let (service, client) = try await enrolled()
        let line = busctl(
            service, "EvaluatePolicy", ["usa{sv}", "1", "silent", "0"],
            options: ["--expect-reply=no"])
        for _ in 0..<20 { #expect(try await run(line).status == 0) }
        let bad = busctl(
            service, "EvaluatePolicy", ["usa{sv}", "9", "", "0"], options: ["--expect-reply=no"])
        for _ in 0..<5 { #expect(try await run(bad).status == 0) }
        try await touch(service.storage, by: client)
    }

    @Test func `that sends garbage or stops in the middle of a message harms nobody`() async throws
    {
        let (service, client) = try await enrolled()
        let login =
            "\0AUTH EXTERNAL "
            + String(geteuid()).utf8.map { String($0, radix: 16) }.joined() + "\r\nBEGIN\r\n"
        // A little-endian call with a body of 256 bytes, of which nothing comes.
        let beginning: [UInt8] = [0x6c, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0x6d, 0, 0, 0, 1, 1]
        let garbage = (0..<512).map { UInt8(truncatingIfNeeded: $0 &* 37 ^ 0x5a) }
        let texts: [[UInt8]] = [
            garbage, [0], Array(login.utf8) + garbage, Array(login.utf8) + beginning,
            Array("\0AUTH EXTERNAL zz\r\n".utf8),
        ]
        let start = service.bus.address.firstRange(of: "path=")?.upperBound
        let path = try #require(start.map { service.bus.address[$0...].prefix { $0 != "," } })
        for text in texts {
            let socket = try VirtualSocket.connect(to: String(path))
            // SAFETY: the bytes live through the call.
            let sent = unsafe text.withUnsafeBytes { bytes in
                unsafe send(socket.rawValue, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            #expect(sent == text.count)
        }
        try await touch(service.storage, by: client)
        #expect(service.daemon.isRunning)
    }
}
