// SPDX-License-Identifier: Apache-2.0

/// The recording of a reader that matches on its chip, taken apart into what was done with it, so that
/// it can be done in another order and more than once.
///
/// libfprint's recordings are of one session: open, enrol, verify, identify, delete, close. A service
/// opens the reader for each piece of work. The packets are those of libfprint 1.94.5's recordings.
package struct ChipRecording {
    package enum Reader: String, CaseIterable, Sendable {
        case elanmoc, fpcmoc, goodixmoc, synaptics
    }

    package enum Piece: Hashable, Sendable {
        case open, clear, enrol, list, verify, identify, delete, close
        /// Opened once more in the same run of the program.
        case openAgain
        /// Identified, as a finger that it does not know.
        case miss
        /// Verified as far as the wait for a finger, which then is cancelled.
        case cancelledWait
        /// Only so many packets of a piece, and then the reader says nothing any more.
        indirect case beginning(of: Piece, Int)
    }

    package let reader: Reader
    private let recording: USBRecording

    package init(_ reader: Reader) throws {
        self.reader = reader
        recording = try USBRecording(
            Recordings.file(reader.rawValue, "custom.pcapng"), packets: reader.packetCount)
    }

    /// What a service does that enrols a finger, accepts it and deletes it: it opens the reader each
    /// time.
    package static let wholeLife: [Piece] = [
        .open, .enrol, .close, .openAgain, .verify, .close, .openAgain, .delete, .close,
    ]

    /// Writes the pieces in this order, as a recording.
    package func write(_ pieces: [Piece], to path: String) throws {
        var packets: [USBRecording.Packet] = []
        for piece in pieces { packets += try self.packets(of: piece) }
        switch reader {
        case .goodixmoc: try GoodixNumbers.renumber(&packets)
        case .synaptics: try SynapticsNumbers.renumber(&packets)
        case .elanmoc, .fpcmoc: break
        }
        try recording.write(packets, to: path)
    }

    private func packets(of piece: Piece) throws -> [USBRecording.Packet] {
        switch piece {
        case .beginning(let whole, let count): return Array(try packets(of: whole).prefix(count))
        case .miss: return try missing()
        case .cancelledWait: return try cancelledWait()
        case .openAgain where reader.pieces[.openAgain] == nil: return try packets(of: .open)
        case .open, .clear, .enrol, .list, .verify, .identify, .delete, .close, .openAgain:
            // There can be nothing to close: then nothing is said.
            let ranges = reader.pieces[piece] ?? (piece == .close ? [] : nil)
            guard let ranges else {
                throw USBRecording.Unknown(description: "no \(piece) of \(reader) was recorded")
            }
            return ranges.flatMap { recording.packets[$0] }
        }
    }

    /// The reader's answer to a cancel nobody has recorded: that it is cancelled, as the driver knows
    /// it. The transfer that waits for the finger stays open until it is taken back.
    private func cancelledWait() throws -> [USBRecording.Packet] {
        guard reader == .synaptics else {
            throw USBRecording.Unknown(description: "no cancel of \(reader) can be made")
        }
        let (question, sent, look) = (
            recording.packets[14], recording.packets[15], recording.packets[16]
        )
        var answer = try recording.packets[275].carrying([0, 0, 0xfe, 1, 0x42, 0])
        answer.number = look.number
        return recording.packets[272...276]
            + [try question.carrying([0xa7, 0xfe, 1, 0x41, 0]), sent, look, answer]
    }

    /// The identification, with the chip's answer that it does not know the finger.
    private func missing() throws -> [USBRecording.Packet] {
        var packets = try packets(of: .identify)
        switch reader {
        case .elanmoc:
            // The second byte of the last answer is the finger's number, 0xfd for none; what was
            // asked about that finger goes with it.
            guard let last = packets.lastIndex(where: { !$0.isSubmission && $0.endpoint == 0x84 })
            else { break }
            var answer = packets[last].data
            answer[1] = 0xfd
            packets[last] = try packets[last].carrying(answer)
            return Array(packets[...last])
        case .fpcmoc:
            // The enrolment's own look for duplicates had that answer.
            guard let place = reader.pieces[.identify]?.first.map({ 223 - $0.lowerBound }) else {
                break
            }
            let number = packets[place].number
            packets[place] = recording.packets[191]
            packets[place].number = number
            return packets
        case .goodixmoc, .synaptics: break
        }
        throw USBRecording.Unknown(description: "no miss of \(reader) can be made")
    }
}

extension ChipRecording.Reader {
    fileprivate var packetCount: Int {
        switch self {
        case .elanmoc: 162
        case .fpcmoc: 228
        case .goodixmoc: 642
        case .synaptics: 310
        }
    }

    /// Where the pieces are.
    fileprivate var pieces: [ChipRecording.Piece: [ClosedRange<Int>]] {
        switch self {
        case .elanmoc:
            [
                .open: [0...31], .enrol: [32...87], .list: [88...131], .verify: [132...143],
                .identify: [144...155], .delete: [156...159], .close: [160...161],
            ]
        case .fpcmoc:
            [
                .open: [0...27], .clear: [28...31], .enrol: [32...197], .list: [198...201],
                .verify: [202...213], .identify: [214...225], .delete: [226...227],
            ]
        case .goodixmoc:
            [
                .open: [0...51], .clear: [52...61], .enrol: [62...541], .list: [542...551],
                .verify: [552...591], .identify: [592...631], .delete: [632...641],
            ]
        case .synaptics:
            // The reader was suspended while it waited for the finger to be verified: an interrupt
            // transfer was taken back, and begun again.
            [
                .open: [0...17], .openAgain: [14...17], .clear: [18...33], .enrol: [34...271],
                .verify: [272...275, 278...301], .delete: [302...305], .close: [306...309],
            ]
        }
    }
}
