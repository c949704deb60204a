// SPDX-License-Identifier: Apache-2.0

import TestKit

/// The recording of a reader that sends pictures over USB: opened, one picture taken, closed. An
/// enrolment takes more pictures than it has, and fails on it as on a reader that says nothing any
/// more; unless the packets of the one picture are repeated.
struct PictureRecording {
    enum Reader: String, CaseIterable, Sendable {
        case uru4000 = "uru4000-4500"
        case egis0570
    }

    let reader: Reader
    private let recording: USBRecording
    private var packets: [USBRecording.Packet] { recording.packets }

    init(_ reader: Reader) throws {
        self.reader = reader
        let count =
            switch reader {
            case .uru4000: 42
            case .egis0570: 1_252
            }
        recording = try USBRecording(
            Recordings.file(reader.rawValue, "capture.pcapng"), packets: count)
    }

    enum Course {
        /// As it was recorded.
        case whole
        /// The reader falls silent while it takes the picture, and then is as it was recorded.
        case silentThenWhole
        /// The reader falls silent behind the first picture, and then is as it was recorded.
        case silentAfterPictureThenWhole
        /// One finger is laid on five times; what the reader says is repeated so often.
        case fiveTouches(repeats: Int)
    }

    func write(_ course: Course, to path: String) throws {
        let packets: [USBRecording.Packet] =
            switch course {
            case .whole: packets
            case .silentThenWhole: packets.prefix(middle) + packets
            case .silentAfterPictureThenWhole: packets.prefix(pictureEnds) + packets
            case .fiveTouches(let repeats): try fiveTouches(repeats)
            }
        try recording.write(packets, to: path)
    }

    /// In the middle of taking the picture, where the driver waits for an answer and not for ever.
    private var middle: Int { reader == .uru4000 ? 31 : 433 + 16 }

    /// Where the driver would go on to the next picture, and the recording does not.
    private var pictureEnds: Int { reader == .uru4000 ? 39 : packets.count }

    private func fiveTouches(_ repeats: Int) throws -> [USBRecording.Packet] {
        switch reader {
        case .egis0570:
            // From the second frame on, over and over: before, with, and without a finger.
            return packets + (0..<repeats).flatMap { _ in packets[433...] }
        case .uru4000:
            let more = try Self.scrambles.map { try nextPicture($0) }
            return Array(packets[..<39] + more.joined() + packets[39...])
        }
    }

    /// Behind the first picture: awaits the finger, takes the picture, awaits the lifting.
    private func nextPicture(_ scramble: [UInt8]) throws -> [USBRecording.Packet] {
        var next = Array(packets[19..<39])
        // The transfer that waits for the reader's word is still open.
        next[21 - 19].number = packets[38].number
        next[31 - 19] = try packets[31].carrying([0] + scramble)
        // The picture's key is the answer, mixed with the number: it has to be the same.
        let (first, answer) = (packets[31].data.dropFirst(), packets[34].data)
        let key = zip(answer, zip(first, scramble)).map { $0 ^ $1.0 ^ $1.1 }
        next[34 - 19] = try packets[34].carrying(key)
        return next
    }

    /// The driver's next numbers for the pictures' keys; with an emulated reader they are the same each
    /// time it is opened.
    private static let scrambles: [[UInt8]] = [
        [0x20, 0x31, 0x5a, 0x73], [0x1f, 0x5d, 0x73, 0x63], [0x84, 0x32, 0x7e, 0x59],
        [0xf3, 0x0c, 0x0d, 0x36],
    ]
}
