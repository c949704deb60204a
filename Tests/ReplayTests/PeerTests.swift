// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import TestKit
import Testing

/// What people use today, with the same recordings: Debian's fprintd. What it does here and in the
/// other suites of this target is in docs/readers.md.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs fprintd at \(Fprintd.program), and recordings of all of them") {
        FileManager.default.isExecutableFile(atPath: Fprintd.program)
            && PeerReader.allCases.filter { !Recordings.have($0.rawValue) }.isEmpty
    })
struct `fprintd with the same recordings` {
    @Test(arguments: PeerReader.allCases)
    func `enrols, lists, accepts and deletes a finger`(reader: PeerReader) async throws {
        let scratch = try Scratch()
        let bus = try await PrivateBus()
        let fprintd = try await reader.fprintd(on: bus, scratch)
        let start = ContinuousClock.now
        // Opened once for all: with some readers the recording is of that.
        try await fprintd.whileClaimed {
            let enrolled = try await fprintd.enrol("right-index-finger")
            #expect(enrolled.last == "enroll-completed")
            #expect(enrolled.count == reader.words)
            #expect(try await fprintd.list() == ["right-index-finger"])
            let asked = ContinuousClock.now
            let verified = try await fprintd.verify("right-index-finger")
            let now = ContinuousClock.now
            #expect(verified == ["verify-match"])
            print(
                "fprintd on \(reader): \(reader.touches) touches to enrol, accepted after "
                    + "\(now - asked), enrolled and accepted after \(now - start)")
            try await fprintd.delete("right-index-finger")
        }
        #expect(try await fprintd.list() == [])
    }
}

enum PeerReader: String, CaseIterable, Sendable {
    case nb1010, elan, aes3500, vfs301
    case elanmoc, fpcmoc, goodixmoc, synaptics

    /// How often it says something while it enrols: of each touch and, with the last or behind it, that
    /// it is done. Of its first look for the finger it says that a stage was passed, also where the
    /// reader did not look because there was nothing in its memory.
    var words: Int {
        switch self {
        case .nb1010, .elan, .aes3500, .vfs301: 6
        case .elanmoc: 12
        case .fpcmoc: 17
        case .goodixmoc: 21
        case .synaptics: 10
        }
    }

    /// How often a person touches the reader for that.
    var touches: Int {
        switch self {
        case .nb1010, .elan, .aes3500, .vfs301, .elanmoc, .goodixmoc: words
        // Content before the last touch that it wanted; not touched for the first look.
        case .fpcmoc, .synaptics: words - 1
        }
    }

    /// What fprintd does with a reader that matches on the chip: it looks for the finger before it
    /// enrols it, deletes what it finds and does not know, and clears a memory that cannot be listed.
    private var pieces: [ChipRecording.Piece] {
        switch self {
        case .nb1010, .elan, .aes3500, .vfs301: []
        case .elanmoc, .fpcmoc: [.open, .miss, .enrol, .verify, .delete, .close]
        case .goodixmoc: [.open, .identify, .delete, .enrol, .verify, .delete, .close]
        case .synaptics: [.open, .clear, .enrol, .verify, .delete, .close]
        }
    }

    func fprintd(on bus: PrivateBus, _ scratch: Scratch) async throws -> Fprintd {
        guard let chip = ChipRecording.Reader(rawValue: rawValue) else {
            return try await Fprintd(
                on: bus, prints: scratch.file("prints"), environment: [:],
                wrapper: Recordings.wrapper(rawValue))
        }
        let traffic = scratch.file("traffic.pcapng")
        try ChipRecording(chip).write(pieces, to: traffic)
        let library = try await preloadLibrary("blank-ids", in: scratch)
        return try await Fprintd(
            on: bus, prints: scratch.file("prints"), environment: [:],
            wrapper: Recordings.wrapper(rawValue, traffic: traffic) + [
                "/usr/bin/env", "LD_PRELOAD=\(library):libumockdev-preload.so.0",
            ])
    }
}
