// SPDX-License-Identifier: Apache-2.0

/// A finger that nobody has: ridges grown from a seed, to be laid on a virtual reader.
///
/// The same seed and size give the same finger on every machine; other seeds, and the other sizes
/// of the same seed, give other fingers. Making one costs most; touches of it are cheap, so keep it.
package struct SyntheticFinger: Sendable {
    /// What kind of sensor it is for.
    package enum Size: String, CaseIterable, Sendable {
        /// 160 × 160 pixels: matched in some milliseconds. A test that wants a match uses a number
        /// from 2 to 40, which were all measured (`scripts/measure-match-quality --check`); beyond,
        /// one finger in some dozens is too plain.
        case small
        /// 256 × 300 pixels: matched in some hundredths of a second. Numbers 1 to 20 were measured;
        /// beyond, a rare pair is taken for one finger.
        case full
        /// 256 × 256 pixels of one tile over and over, which costs the matcher seconds. It takes
        /// such fingers for one another, too: with them only the time means something.
        case slow

        package var width: Int { self == .small ? 160 : 256 }

        package var height: Int {
            switch self {
            case .small: 160
            case .full: 300
            case .slow: 256
            }
        }

        /// How many minutiae a finger is to have, at most if its flow allows. Fewer, and some
        /// fingers are not recognised; more, and some are taken for others.
        fileprivate var minutiae: Int {
            switch self {
            case .small: 46
            case .full: 100
            case .slow: 260
            }
        }

        fileprivate var shortestPeriod: Double { self == .slow ? 7 : 8.4 }
        fileprivate var tile: Int? { self == .slow ? 64 : nil }
    }

    /// A finger that blocks libfprint's thread for seconds when it is verified.
    ///
    /// Measured against a print of touches 0 to 4, with libfprint 1.94.5 on a two-core machine: touches
    /// 5 to 8 take 2.0, 3.4, 4.5 and 2.0 seconds of processor time, and all match.
    package static func slowToMatch() -> SyntheticFinger { SyntheticFinger(seed: 6, size: .slow) }

    package let seed: UInt64
    package let size: Size
    package let pattern: RidgePattern
    /// How many minutiae the finger has, by its own count; the matcher sees fewer.
    package let minutiae: Int
    private let skin: [Float]
    private let skinWidth: Int
    private let skinHeight: Int

    /// How much wider and higher than the sensor the finger is.
    private static let margin = 40

    package init(seed: UInt64, size: Size = .small) {
        self.seed = seed
        self.size = size
        var random = SplitMix64(seed: seed, stream: 1)
        let directions =
            size.tile.map { RidgeDirections(tile: Double($0), from: &random) }
            ?? RidgeDirections(from: &random)
        pattern = directions.pattern
        let period = random.between(size.shortestPeriod, size.shortestPeriod + 1)
        skinWidth = size.width + Self.margin
        skinHeight = size.height + Self.margin
        let growth = RidgeGrowth(width: skinWidth, height: skinHeight, directions: directions)
        var noise = SplitMix64(seed: seed, stream: 2)
        (skin, minutiae) = growth.grow(
            period: period, minutiae: size.minutiae, tile: size.tile, from: &noise)
    }

    /// The picture that the sensor takes of one touch: dark ridges on light ground.
    package func image(_ touch: Touch = Touch()) -> GreyImage {
        let width = size.width
        let height = size.height
        var random = SplitMix64(seed: touch.seed ^ seed, stream: 4)
        let give = SkinGive(from: &random)
        let sine = ExactMath.sine(touch.degrees * .pi / 180)
        let cosine = ExactMath.cosine(touch.degrees * .pi / 180)
        let reachX = Double(width) * 0.72 * touch.contact
        let reachY = Double(height) * 0.72 * touch.contact
        let middleX = Double(width) / 2 + random.between(-6, 6)
        let middleY = Double(height) / 2 + random.between(-6, 6)
        let contrast = 95 - 15 * touch.pressure
        let ground = 128 - 40 * touch.pressure
        let grain = 160 * touch.noise
        var pixels = [UInt8](repeating: 0, count: width * height)
        // SAFETY: `place` counts exactly the pixels of the picture, and `height(of:x:y:)` is given
        // the whole skin. Plain pointers keep an unoptimised build fast.
        unsafe pixels.withUnsafeMutableBufferPointer { pixels in
            unsafe skin.withUnsafeBufferPointer { skin in
                guard let pixels = pixels.baseAddress, let skin = skin.baseAddress
                else { return }
                var place = 0
                var row = 0
                while row < height {
                    let bend = give.row(row)
                    let y = Double(row) - Double(height) / 2 - touch.dy
                    var column = 0
                    while column < width {
                        let x = Double(column) - Double(width) / 2 - touch.dx
                        let ridge = unsafe skinHeight(
                            skin,
                            x: cosine * x + sine * y + Double(skinWidth) / 2 + bend,
                            y: cosine * y - sine * x + Double(skinHeight) / 2 + give.column(column))
                        let awayX = (Double(column) - middleX) / reachX
                        let awayY = (Double(row) - middleY) / reachY
                        let bits = random.next()
                        var grey = Self.paper
                        let edge = (1 - awayX * awayX - awayY * awayY) * 8
                        if let ridge, edge > 0 {
                            let ink = ground - contrast * ridge + grain * Self.bell(bits)
                            grey += (ink - grey) * (edge < 1 ? edge : 1)
                        } else {
                            grey += 0.1 * grain * Self.bell(bits)
                        }
                        unsafe pixels[place] = UInt8(grey < 0 ? 0 : (grey > 255 ? 255 : grey))
                        place += 1
                        column += 1
                    }
                    row += 1
                }
            }
        }
        return GreyImage(width: width, height: height, pixels: pixels)
            ?? .blank(width: width, height: height)
    }

    /// The grey of a sensor that nothing touches.
    private static let paper = 245.0

    /// A number from -1 to 1, mostly near 0, out of 64 random bits.
    private static func bell(_ bits: UInt64) -> Double {
        let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48)
        return Double(sum) / 131_070 - 1
    }

    /// The height of the skin between four pixels; `nil` beside the finger.
    private func skinHeight(_ skin: UnsafePointer<Float>, x: Double, y: Double) -> Double? {
        guard x >= 0, y >= 0, x < Double(skinWidth - 1), y < Double(skinHeight - 1) else {
            return nil
        }
        let column = Int(x)
        let row = Int(y)
        let right = x - Double(column)
        let down = y - Double(row)
        // SAFETY: the guard leaves at least one more column to the right and row below.
        let corner = unsafe skin + row * skinWidth + column
        let upper = unsafe Double(corner[0]) * (1 - right) + Double(corner[1]) * right
        let lower =
            unsafe Double(corner[skinWidth]) * (1 - right) + Double(corner[skinWidth + 1]) * right
        return upper * (1 - down) + lower * down
    }
}

/// How soft skin shears a little under the finger, another way at each touch.
private struct SkinGive {
    private let heightX: Double
    private let phaseX: Double
    private let heightY: Double
    private let phaseY: Double
    private var columns: [Double] = []

    init(from random: inout SplitMix64) {
        heightX = random.between(0, 0.8)
        phaseX = random.between(-.pi, .pi)
        heightY = random.between(0, 0.8)
        phaseY = random.between(-.pi, .pi)
        columns = (0..<320).map { [heightY, phaseY] in
            heightY * ExactMath.sine(Double($0) / 35 + phaseY)
        }
    }

    func row(_ row: Int) -> Double { heightX * ExactMath.sine(Double(row) / 35 + phaseX) }
    func column(_ column: Int) -> Double { columns[column] }
}
