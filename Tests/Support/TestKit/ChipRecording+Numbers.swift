// SPDX-License-Identifier: Apache-2.0

// What two drivers say has a number, which must be right where it is said.

/// Goodix: each packet to the reader has a number, counted from 0 for as long as the program runs, and two
/// checksums.
enum GoodixNumbers {
    static func renumber(_ packets: inout [USBRecording.Packet]) throws {
        var next: UInt8 = 0
        for (index, packet) in packets.enumerated()
        where packet.isSubmission && packet.isBulk && packet.endpoint == 0x01 {
            var data = packet.data
            guard data.count >= 12 else {
                throw USBRecording.Unknown(description: "a packet to goodixmoc is cut short")
            }
            data[3] = next
            next &+= 1
            data[6] = headerSum(data[..<6])
            data[7] = ~data[6]
            let end = data.count - 4
            var sum = checksum(data[..<end])
            for place in end..<data.count {
                data[place] = UInt8(truncatingIfNeeded: sum)
                sum >>= 8
            }
            packets[index] = try packet.carrying(data)
        }
    }

    /// CRC-8 with the polynomial x⁸+x²+x+1, inverted.
    private static func headerSum(_ bytes: ArraySlice<UInt8>) -> UInt8 {
        var sum: UInt8 = 0
        for byte in bytes {
            sum ^= byte
            for _ in 0..<8 { sum = sum & 0x80 == 0 ? sum << 1 : sum << 1 ^ 0x07 }
        }
        return ~sum
    }

    /// CRC-32 of IEEE 802.3.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var sum: UInt32 = ~0
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xedb8_8320 }
        }
        return ~sum
    }
}

/// Synaptics: each command has a number, counted from 1 for as long as the reader is there, and its
/// answers have the same. What the reader says by itself has 0.
enum SynapticsNumbers {
    static func renumber(_ packets: inout [USBRecording.Packet]) throws {
        var last: UInt8 = 0
        for (index, packet) in packets.enumerated() where packet.isBulk {
            var data = packet.data
            if packet.isSubmission, packet.endpoint == 0x01, data.count >= 5 {
                last &+= 1
                data[2] = last
            } else if !packet.isSubmission, packet.endpoint == 0x81, data.count >= 6,
                data[2] == 0xfe, data[3] != 0
            {
                data[3] = last
            } else {
                continue
            }
            packets[index] = try packet.carrying(data)
        }
    }
}
