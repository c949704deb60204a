// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The recording of a Synaptics reader, cut so that it fits a service that does not clear a
/// reader's memory, and that ends in the middle of a scan: its interrupt transfer stays open until
/// it is cancelled.
///
/// The packets are those of libfprint 1.94.5's recording: 0 to 17 open the reader, 18 to 33 clear
/// its memory, 34 to 271 enrol a finger, and then it is verified.
struct SynapticsRecording {
    /// Where a packet's data begins: behind the block's header and usbmon's.
    private static let dataOffset = 28 + 64

    private struct Packet {
        var bytes: [UInt8]

        var endpoint: UInt8 { bytes[28 + 10] }
        var isBulk: Bool { bytes[28 + 9] == 3 }
        /// What joins a transfer's beginning with its end.
        var number: ArraySlice<UInt8> {
            get { bytes[28..<36] }
            set { bytes.replaceSubrange(28..<36, with: newValue) }
        }

        var dataCount: Int { Int(bytes[28 + 36]) | Int(bytes[28 + 37]) << 8 }

        /// Another packet with the same course and as many bytes of data.
        func carrying(_ data: [UInt8]) throws -> Packet {
            try #require(data.count == dataCount)
            var packet = self
            let start = SynapticsRecording.dataOffset
            packet.bytes.replaceSubrange(start..<start + data.count, with: data)
            return packet
        }

        /// Counts a command, or the answer to one, down by one: each has a number, and the one of
        /// the clearing is left out.
        mutating func countDown() {
            let offset: Int
            switch (isBulk, endpoint) {
            case (true, 0x01) where dataCount >= 5: offset = SynapticsRecording.dataOffset + 2
            case (true, 0x81) where dataCount >= 6: offset = SynapticsRecording.dataOffset + 3
            default: return
            }
            if bytes[offset] > 3 { bytes[offset] -= 1 }
        }
    }

    private var header: [[UInt8]] = []
    private var packets: [Packet] = []

    init(_ path: String) throws {
        var rest = [UInt8](try Data(contentsOf: URL(filePath: path)))[...]
        while rest.count >= 8 {
            let start = rest.startIndex
            let words = (0..<8).map { Int(rest[start + $0]) << (8 * ($0 % 4)) }
            let kind = words[..<4].reduce(0, |)
            let count = words[4...].reduce(0, |)
            let block = [UInt8](rest.prefix(count))
            if kind == 6 { packets.append(Packet(bytes: block)) } else { header.append(block) }
            rest = rest.dropFirst(max(count, 8))
        }
        try #require(packets.count == 310, "another recording than this is about")
    }

    /// Writes the recording as far as the waiting scan, with the reader's answer to a cancel, which
    /// nobody has recorded: that it is cancelled, as the driver knows it.
    func write(to path: String) throws {
        var late = packets[34..<277].map { packet in
            var packet = packet
            packet.countDown()
            return packet
        }
        let (question, sent, look) = (packets[14], packets[15], packets[16])
        var answer = try packets[275].carrying([0, 0, 0xfe, 5, 0x42, 0])
        answer.number = look.number
        late += [try question.carrying([0xa7, 0xfe, 5, 0x41, 0]), sent, look, answer]
        let blocks = header + (packets[..<18] + late).map(\.bytes)
        try Data(blocks.joined()).write(to: URL(filePath: path))
    }
}
