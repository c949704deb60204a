// SPDX-License-Identifier: Apache-2.0

/// A picture of 8-bit grey values, row by row: 0 is black (a ridge), 255 is white (no contact).
package struct GreyImage: Hashable, Sendable {
    package let width: Int
    package let height: Int
    package let pixels: [UInt8]

    /// `nil` unless there is exactly one value for each pixel of a picture that is not empty.
    package init?(width: Int, height: Int, pixels: [UInt8]) {
        guard width > 0, height > 0, pixels.count == width * height else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// A picture of one grey value, in which no minutia can be found; sides below 1 count as 1.
    package static func blank(width: Int, height: Int, grey: UInt8 = 255) -> GreyImage {
        GreyImage(uncheckedWidth: max(width, 1), height: max(height, 1)) { pixels in
            pixels.append(contentsOf: repeatElement(grey, count: max(width, 1) * max(height, 1)))
        }
    }

    /// The file format "binary PGM" of Netpbm. Several such files in a row are a file too.
    package var pgm: [UInt8] { Array("P5\n\(width) \(height)\n255\n".utf8) + pixels }

    /// The 64-bit FNV-1a hash of size and pixels: the same on every run and machine.
    package var digest: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in pgm {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        return hash
    }

    private init(uncheckedWidth width: Int, height: Int, fill: (inout [UInt8]) -> Void) {
        self.width = width
        self.height = height
        var pixels: [UInt8] = []
        fill(&pixels)
        self.pixels = pixels
    }
}
