// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// The driver of a real reader, whose USB interface cannot be claimed when a test says so.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs umockdev-run, and recordings at \(Recordings.folder)") {
        Recordings.areUsable
    })
struct `A reader that cannot be opened` {
    private static let taken = EBUSY

    /// A finger is enrolled. `claims` is the file that makes claims fail.
    private func enrolled() async throws -> (TestService, TestClient, claims: Scratch) {
        let scratch = try Scratch()
        let library = try await preloadLibrary("usb-faults", in: scratch)
        let service = try await TestService(
            environment: [
                "FP_DRIVERS_ALLOWLIST": "nb1010", "FAULTY_CLAIM": scratch.file("claims"),
            ],
            // In front of umockdev's own library.
            wrapper: Recordings.wrapper("nb1010") + [
                "/usr/bin/env", "LD_PRELOAD=\(library):libumockdev-preload.so.0",
            ])
        let client = try await TestClient(service.bus)
        try await client.enrol("right-index-finger")
        return (service, client, scratch)
    }

    private func attemptsLeft(_ client: TestClient) async throws -> BusValue? {
        try await client.environment()["attempts-left"]
    }

    @Test func `because another program has it is said to be busy, which costs nothing`()
        async throws
    {
        let (service, client, claims) = try await enrolled()
        let file = try claims.write("claims", "\(Self.taken) 0")
        for _ in 0..<3 {
            #expect(await error(of: Task { try await client.evaluate() }) == .readerBusy)
        }
        #expect(try await client.can().canEvaluate)
        #expect(try await attemptsLeft(client) == .uint32(5))
        #expect(service.log.contains("Resource busy"))
        try FileManager.default.removeItem(atPath: file)
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
    }

    @Test func `because another program has it is asked for again, a few times`() async throws {
        let (service, client, claims) = try await enrolled()
        _ = try claims.write("claims", "\(Self.taken) 2")
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
        #expect(service.log.components(separatedBy: "Resource busy").count == 3)
        #expect(!FileManager.default.fileExists(atPath: claims.file("claims")))
    }

    // libfprint leaves the USB device open when a driver's open fails.
    @Test(arguments: [EIO, ETIMEDOUT, ENODEV])
    func `once can be opened the next time`(code: Int32) async throws {
        let (service, client, claims) = try await enrolled()
        for _ in 0..<3 {
            _ = try claims.write("claims", "\(code) 1")
            #expect(await error(of: Task { try await client.evaluate() }) == .biometryNotAvailable)
            #expect(try await attemptsLeft(client) == .uint32(5))
            #expect(try await client.evaluate()["method"] == .string("biometrics"))
        }
        #expect(service.daemon.isRunning)
    }
}
