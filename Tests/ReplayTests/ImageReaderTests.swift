// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

/// Drivers of real hardware that sends pictures, driven by the daemon over the bus.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs recordings of all of them") {
        ["nb1010", "elan", "aes3500", "vfs301"].filter { !Recordings.have($0) }.isEmpty
    })
struct `Recorded readers that send pictures` {
    // A recording repeats itself, so every touch is of one finger.
    @Test(arguments: [
        ("nb1010", "press"), ("elan", "swipe"), ("aes3500", "press"), ("vfs301", "swipe"),
    ])
    func `enrol, list, accept and delete a finger`(
        reader: String, scanType: String
    ) async throws {
        let driven = try await Driven(reader)
        let client = driven.client
        #expect(try await client.environment()["biometry-type"] == .uint32(1))
        let properties = try await driven.properties()
        #expect(properties["Driver"] == .string(reader))
        #expect(properties["ScanType"] == .string(scanType))
        #expect(properties["EnrollStages"] == .uint32(5))
        #expect(properties["Features"] == .strings(["verify", "identify"]))
        try await driven.goTheWholeWay(on: reader) {
            #expect(
                await client.stages.last == .enrolled(token: "", done: 5, total: 5, cause: ""))
        }
    }
}
