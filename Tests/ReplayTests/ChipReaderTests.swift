// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

/// Readers that match in a memory of their own, driven by the daemon over the bus.
@Suite(.timeLimit(.minutes(1))) struct `Recorded readers that match on the chip` {
    @Test(arguments: ChipRecording.Reader.allCases)
    func `enrol, list, accept and delete a finger`(reader: ChipRecording.Reader) async throws {
        let driven = try await Driven(reader, ChipRecording.wholeLife)
        let client = driven.client
        try await client.enrol("right-index-finger")
        #expect(try await client.list() == ["right-index-finger"])
        #expect(try await client.can().canEvaluate)
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
        try await client.delete()
        #expect(try await client.list() == [])
        #expect(try await client.can().code == -7)
    }
}
