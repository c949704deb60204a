// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Hardware that hangs` {
    private static let enumeration = "fp_context_new\nfp_context_enumerate\n"

    /// A daemon that hangs for so long when it looks for its reader.
    private func hanging(
        seconds: Int, on bus: PrivateBus, _ scratch: Scratch
    ) async throws -> TestService {
        let library = try await preloadLibrary("hanging-hardware", in: scratch)
        return try await TestService(
            .storage, bus: bus,
            environment: [
                "LD_PRELOAD": library, "HANGING_SECONDS": "\(seconds)",
                "HANGING_LOG": scratch.file("calls"),
            ])
    }

    private func calls(_ scratch: Scratch, _ name: String = "calls") -> String {
        (try? String(contentsOfFile: scratch.file(name), encoding: .utf8)) ?? ""
    }

    @Test func `keeps nobody waiting, and the daemon not from ending`() async throws {
        let bus = try await PrivateBus()
        let scratch = try Scratch()
        let start = ContinuousClock.now
        let service = try await hanging(seconds: 60, on: bus, scratch)
        let named = ContinuousClock.now - start
        // Loosely: the machine may have much else to do. What was measured is printed.
        #expect(named < .seconds(5))
        let client = try await TestClient(bus)
        #expect(try await client.can().code == -6)
        let answered = ContinuousClock.now - start
        #expect(answered < .seconds(8))
        // From now on at once.
        let again = try await ContinuousClock().measure { _ = try await client.can() }
        #expect(again < .seconds(2))
        #expect(await error(of: evaluating(client)) == .biometryNotAvailable)
        #expect(try await client.environment()["readers"] == .objectPaths([]))

        let told = ContinuousClock.now
        service.daemon.signal(SIGTERM)
        #expect(await service.daemon.wait() == 0)
        let ended = ContinuousClock.now - told
        print("while enumerating hangs: name \(named), answer \(answered), end \(ended)")
        #expect(ended < .seconds(6))
        #expect(calls(scratch) == Self.enumeration)
    }

    @Test func `is used once it hangs no more`() async throws {
        let bus = try await PrivateBus()
        let service = try await hanging(seconds: 4, on: bus, try Scratch())
        let client = try await TestClient(bus)
        #expect(try await client.can().code == -6)
        try await client.waitUntilCan(-7)
        try await enrol(on: service, by: client)
        try await touch(service.storage, by: client)
    }

    @Test func `is not touched by a second instance`() async throws {
        let bus = try await PrivateBus()
        let scratch = try Scratch()
        let service = try await hanging(seconds: 60, on: bus, scratch)
        let second = try await run(
            productsDirectory.appending(path: "localauthd").path,
            [
                "--config", service.scratch.file("localauthd.conf"), "--state-dir",
                scratch.file("state"), "--print-dir", scratch.file("prints"),
            ],
            environment: bus.environment.merging([
                "LD_PRELOAD": scratch.file("hanging-hardware.so"),
                "HANGING_LOG": scratch.file("second"),
            ]) { $1 })
        #expect(second.status == 0)
        #expect(second.errors.contains("another instance has the name"))
        #expect(calls(scratch, "second") == "")
        // It would have been noted.
        let client = try await TestClient(bus)
        #expect(try await client.can().code == -6)
        #expect(calls(scratch) == Self.enumeration)
    }
}
