// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A recording of a USB reader's traffic: pcapng with the headers of Linux' usbmon. It is replayed
/// strictly in its order: what is submitted next must be what was submitted next then.
package struct USBRecording {
    /// Why a file is not such a recording, or not the one that is known.
    package struct Unknown: Error, CustomStringConvertible {
        package let description: String
    }

    /// One transfer's beginning, or its end.
    package struct Packet {
        fileprivate(set) var bytes: [UInt8]

        /// Where usbmon's header begins, behind the block's, and where the data does.
        private static let header = 28
        private static let data = header + 64

        fileprivate init?(block: [UInt8]) {
            guard block.count >= Self.data + 4 else { return nil }
            bytes = block
            guard bytes.count >= Self.data + dataCount else { return nil }
        }

        package var isSubmission: Bool { bytes[Self.header + 8] == UInt8(ascii: "S") }
        package var isBulk: Bool { bytes[Self.header + 9] == 3 }
        package var endpoint: UInt8 { bytes[Self.header + 10] }

        /// What joins a transfer's beginning with its end.
        package var number: ArraySlice<UInt8> {
            get { bytes[Self.header..<Self.header + 8] }
            set { bytes.replaceSubrange(Self.header..<Self.header + 8, with: newValue) }
        }

        private var dataCount: Int {
            Int(bytes[Self.header + 36]) | Int(bytes[Self.header + 37]) << 8
        }

        package var data: [UInt8] { Array(bytes[Self.data..<Self.data + dataCount]) }

        /// Another packet with the same course and as many bytes of data.
        package func carrying(_ data: [UInt8]) throws(Unknown) -> Packet {
            guard data.count == dataCount else {
                throw Unknown(description: "\(data.count) bytes do not fit in \(dataCount)")
            }
            var packet = self
            packet.bytes.replaceSubrange(Self.data..<Self.data + data.count, with: data)
            return packet
        }
    }

    private var header: [[UInt8]] = []
    package private(set) var packets: [Packet] = []

    /// Reads a recording.
    /// - Parameters:
    ///   - path: the file.
    ///   - count: how many packets the one has that is known.
    /// - Throws: what is wrong with it.
    package init(_ path: String, packets count: Int? = nil) throws {
        var rest = [UInt8](try Data(contentsOf: URL(filePath: path)))[...]
        while rest.count >= 12 {
            let (kind, length) = (Self.word(rest), Self.word(rest.dropFirst(4)))
            guard length >= 12, length <= rest.count else {
                throw Unknown(description: "\(path) is cut short")
            }
            let block = [UInt8](rest.prefix(length))
            rest = rest.dropFirst(length)
            // Enhanced packet blocks; the others tell of the file.
            guard kind == 6 else {
                header.append(block)
                continue
            }
            guard let packet = Packet(block: block) else {
                throw Unknown(description: "\(path) is not of usbmon")
            }
            packets.append(packet)
        }
        guard count == nil || packets.count == count else {
            throw Unknown(
                description: "\(path) is another recording than is known: it has "
                    + "\(packets.count) packets")
        }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Writes packets of it, in this order, as a recording of the same reader's.
    package func write(_ packets: some Sequence<Packet>, to path: String) throws {
        let blocks = header + packets.map(\.bytes)
        try Data(blocks.joined()).write(to: URL(filePath: path))
    }
}
