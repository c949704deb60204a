// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

/// Drivers of real hardware, driven by the daemon over the bus, unmodified.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs umockdev-run, and recordings at \(Recordings.folder)") {
        Recordings.areUsable
    })
struct `Recorded readers` {
    // A recording repeats itself, so every touch is of one finger.
    @Test(arguments: ["nb1010", "elan", "aes3500", "vfs301"])
    func `enrol, list, accept and delete a finger`(driver: String) async throws {
        let service = try await TestService(
            environment: ["FP_DRIVERS_ALLOWLIST": driver],
            wrapper: Recordings.wrapper(driver))
        let client = try await TestClient(service.bus)
        #expect(try await client.environment()["biometry-type"] == .uint32(1))
        try await client.enrol("right-index-finger")
        #expect(try await client.list() == ["right-index-finger"])
        #expect(try await client.can().canEvaluate)
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
        try await client.delete()
        #expect(try await client.list() == [])
        #expect(try await client.can().code == -7)
    }
}
