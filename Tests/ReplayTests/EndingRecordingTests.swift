// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// Readers that fall silent in the middle of their work, as a recording does at its end. Where one has
/// been given up under umockdev, libusb goes round and round, so these come one after the other.
@Suite(
    .serialized, .timeLimit(.minutes(3)),
    .enabled("needs recordings of all of them") {
        PictureRecording.Reader.allCases.filter { !Recordings.have($0.rawValue) }.isEmpty
    })
struct `Recordings that end early` {
    /// A daemon with a recording, and the print of the finger that is in it.
    private func enrolled(
        _ reader: PictureRecording.Reader, _ course: PictureRecording.Course
    ) async throws -> Driven {
        let (recording, folder) = (
            try PictureRecording(reader), try await PreparedPrints.shared.folder(of: reader)
        )
        let driven = try await Driven(reader.rawValue) { try recording.write(course, to: $0) }
        #expect(try await driven.client.can().code == -7)
        try FileManager.default.copyItem(
            atPath: folder, toPath: "\(driven.service.printDirectory)/\(NSUserName())")
        try await driven.client.waitUntilCan(0)
        return driven
    }

    @Test(arguments: PictureRecording.Reader.allCases)
    func `enrol, list, accept and delete a finger, if pictures are repeated`(
        reader: PictureRecording.Reader
    ) async throws {
        let driven = try await enrolled(reader, .whole)
        let client = driven.client
        #expect(try await client.list() == ["right-index-finger"])
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
        try await client.delete()
        #expect(try await client.can().code == -7)
    }

    @Test(arguments: PictureRecording.Reader.allCases)
    func `end an evaluation without a charge, and the next one matches`(
        reader: PictureRecording.Reader
    ) async throws {
        let driven = try await enrolled(reader, .silentThenWhole)
        let client = driven.client
        #expect(await error(of: Task { try await client.evaluate() }) == .biometryNotAvailable)
        #expect(try await client.environment()["attempts-left"] == .uint32(5))
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
    }

    @Test(arguments: PictureRecording.Reader.allCases)
    func `end an enrolment, and leave the older print and the reader as they were`(
        reader: PictureRecording.Reader
    ) async throws {
        let driven = try await enrolled(reader, .silentAfterPictureThenWhole)
        let client = driven.client
        #expect(
            await error(of: Task { try await client.enrol("right-index-finger") })
                == .enrollmentFailed)
        // One touch counted, then it said nothing.
        #expect(
            await client.stages == [
                .enrolled(token: "", done: 0, total: 5, cause: ""),
                .enrolled(token: "", done: 1, total: 5, cause: ""),
            ])
        #expect(try await client.list() == ["right-index-finger"])
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
    }
}
