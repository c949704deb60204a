// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

extension ChipRecording.Reader {
    /// What stands in the recording.
    struct Facts {
        let stages: UInt32
        /// Touches of its enrolment that counted: a reader can be content before the last.
        let touches: UInt32
        /// And those that were no good.
        let badTouches: Int
        let features: [String]
    }

    var facts: Facts {
        let all = ["verify", "identify", "storage"]
        return switch self {
        case .elanmoc:
            Facts(
                stages: 9, touches: 9, badTouches: 2,
                features: all + ["storage-list", "storage-delete"])
        case .fpcmoc:
            Facts(
                stages: 25, touches: 12, badTouches: 3,
                features: all + [
                    "storage-list", "storage-delete", "storage-clear", "duplicates-check",
                ])
        case .goodixmoc:
            Facts(
                stages: 12, touches: 12, badTouches: 8,
                features: all + [
                    "storage-list", "storage-delete", "storage-clear", "duplicates-check",
                ])
        case .synaptics:
            Facts(
                stages: 8, touches: 8, badTouches: 1,
                features: all + ["storage-delete", "storage-clear"])
        }
    }
}

/// Readers that match in a memory of their own, driven by the daemon over the bus.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs recordings of all of them") {
        ChipRecording.Reader.allCases.filter { !Recordings.have($0.rawValue) }.isEmpty
    })
struct `Recorded readers that match on the chip` {
    private typealias Piece = ChipRecording.Piece
    private static let enrolled: [Piece] = [.open, .enrol, .close]

    @Test(arguments: ChipRecording.Reader.allCases)
    func `enrol, list, accept and delete a finger`(reader: ChipRecording.Reader) async throws {
        // The second enrolment comes only when the reader was told to delete the first.
        let driven = try await Driven(
            reader, ChipRecording.wholeLife + [.openAgain, .enrol, .close])
        let client = driven.client
        let properties = try await driven.properties()
        #expect(properties["Driver"] == .string(reader.rawValue))
        #expect(properties["ScanType"] == .string("press"))
        #expect(properties["EnrollStages"] == .uint32(reader.facts.stages))
        #expect(properties["Features"] == .strings(reader.facts.features))
        try await driven.goTheWholeWay(on: reader.rawValue) {
            try await expectStages(of: client, reader)
        }
        try await client.enrol("left-thumb")
        #expect(try await client.list() == ["left-thumb"])
    }

    /// Every touch was told of, the bad ones with their cause.
    private func expectStages(of client: TestClient, _ reader: ChipRecording.Reader) async throws {
        var (done, bad) = (UInt32(0), 0)
        for stage in await client.stages.dropFirst() {
            guard case .enrolled(_, let count, let total, let cause) = stage else { continue }
            #expect(total == reader.facts.stages)
            if cause.isEmpty { done += 1 } else { bad += 1 }
            #expect(count == done)
        }
        #expect(done == reader.facts.touches)
        #expect(bad == reader.facts.badTouches)
    }

    @Test(arguments: [
        // As far as the reader's first words, and further than that where it has more to say.
        (ChipRecording.Reader.elanmoc, 14), (.elanmoc, 22), (.goodixmoc, 24), (.goodixmoc, 34),
        (.fpcmoc, 24), (.synaptics, 2),
    ])
    func `that fall silent while they are opened cost nothing, and can be opened again`(
        reader: ChipRecording.Reader, packets: Int
    ) async throws {
        let driven = try await Driven(
            reader,
            Self.enrolled + [
                .beginning(of: .openAgain, packets), .openAgain, .verify, .close,
            ])
        let client = driven.client
        try await client.enrol("right-index-finger")
        #expect(await error(of: Task { try await client.evaluate() }) == .biometryNotAvailable)
        #expect(try await client.environment()["attempts-left"] == .uint32(5))
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
    }

    /// fpcmoc's driver tells of it with an error that it has freed. What is in freed memory depends on
    /// whose allocator it was: GLib's own, or since GLib 2.76 the C library's.
    @Test(
        arguments: [
            (ChipRecording.Reader.fpcmoc, 4), (.fpcmoc, 6), (.fpcmoc, 8), (.elanmoc, 2),
            (.synaptics, 6),
        ], ["", "always-malloc"])
    func `that fall silent while they scan cost nothing, and can be used again`(
        reader: (ChipRecording.Reader, Int), allocator: String
    ) async throws {
        let (reader, packets) = reader
        let driven = try await Driven(
            reader,
            Self.enrolled + [
                .openAgain, .beginning(of: .verify, packets), .close, .openAgain, .verify, .close,
            ], allocator: allocator)
        let client = driven.client
        try await client.enrol("right-index-finger")
        #expect(await error(of: Task { try await client.evaluate() }) == .biometryNotAvailable)
        #expect(try await client.environment()["attempts-left"] == .uint32(5))
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
        #expect(driven.service.log.contains("has freed") == (reader == .fpcmoc))
    }

    @Test(arguments: [ChipRecording.Reader.elanmoc, .fpcmoc])
    func `charge a finger that they do not know`(reader: ChipRecording.Reader) async throws {
        let driven = try await Driven(
            reader, Self.enrolled + [.openAgain, .miss, .verify, .close])
        let client = driven.client
        try await client.enrol("right-index-finger")
        let evaluation = Task { try await client.evaluate() }
        #expect(
            await client.nextRetry() == .retry(token: "", cause: "no-match", attemptsLeft: 2))
        // The next touch is the finger's.
        #expect(try await evaluation.value["method"] == .string("biometrics"))
        #expect(try await client.environment()["attempts-left"] == .uint32(5))
    }

    @Test(arguments: [ChipRecording.Reader.fpcmoc, .goodixmoc, .synaptics])
    func `are emptied for an administrator`(reader: ChipRecording.Reader) async throws {
        let driven = try await Driven(
            reader, Self.enrolled + [.openAgain, .clear, .close, .openAgain, .enrol, .close])
        let client = driven.client
        try await client.enrol("right-index-finger")
        try await client.erase(Service.readerPath(1))
        #expect(try await client.list() == [])
        // It comes only when the reader was told to.
        try await client.enrol("left-thumb")
        #expect(try await client.list() == ["left-thumb"])
    }
}
