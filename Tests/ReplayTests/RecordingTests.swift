// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import TestKit
import Testing

/// How recordings are taken apart and put together.
@Suite(
    .enabled("needs recordings of all of them") {
        ChipRecording.Reader.allCases.filter { !Recordings.have($0.rawValue) }.isEmpty
    })
struct `A recording` {
    // Goodix' packets get numbers and checksums anew: they are the ones that the reader had.
    @Test(arguments: [ChipRecording.Reader.goodixmoc, .fpcmoc, .elanmoc])
    func `in its own order is the same to the last byte`(reader: ChipRecording.Reader) throws {
        let scratch = try Scratch()
        let order: [ChipRecording.Piece] =
            reader == .elanmoc
            ? [.open, .enrol, .list, .verify, .identify, .delete, .close]
            : [.open, .clear, .enrol, .list, .verify, .identify, .delete, .close]
        try ChipRecording(reader).write(order, to: scratch.file("same"))
        let original = Recordings.file(reader.rawValue, "custom.pcapng")
        #expect(
            try Data(contentsOf: URL(filePath: scratch.file("same")))
                == Data(contentsOf: URL(filePath: original)))
    }

    @Test func `that is another one, or none, is refused with a reason`() throws {
        let scratch = try Scratch()
        let original = Recordings.file("elanmoc", "custom.pcapng")
        #expect(throws: USBRecording.Unknown.self) { try USBRecording(original, packets: 1) }
        let bytes = try Data(contentsOf: URL(filePath: original))
        let cut = scratch.file("cut")
        try bytes.dropLast(7).write(to: URL(filePath: cut))
        #expect(throws: USBRecording.Unknown.self) { try USBRecording(cut) }
        _ = try scratch.write("text", "this is not a recording, nor anything like it")
        #expect(throws: USBRecording.Unknown.self) { try USBRecording(scratch.file("text")) }
        #expect(throws: USBRecording.Unknown.self) {
            try ChipRecording(.goodixmoc).write([.miss], to: cut)
        }
    }
}
