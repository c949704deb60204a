// SPDX-License-Identifier: Apache-2.0

/// Ridges that grow out of noise.
///
/// Each round smooths along the ridge direction, then passes only waves of the ridge period across
/// it (together a Gabor filter, taken apart into two lines of pixels), and clips. Where lines meet
/// that do not fit, a ridge ends or forks: those are the minutiae, and no one chose their places.
struct RidgeGrowth {
    /// How far a filter reaches; this wide a frame around the picture stays without ridges.
    private static let reach = 8
    private static let along = 6
    private static let across = 7
    /// The side of the squares that share one direction.
    private static let cell = 4

    let width: Int
    let height: Int
    private let stride: Int
    private(set) var directions: [UInt8]

    init(width: Int, height: Int, directions field: RidgeDirections) {
        self.width = width
        self.height = height
        stride = width + 2 * Self.reach
        directions = [UInt8](repeating: 0, count: width * height)
        var y = 0
        while y < height {
            var x = 0
            while x < width {
                let middle = Double(Self.cell) / 2
                let angle = field.direction(
                    x: Double(x) + middle - Double(width) / 2,
                    y: Double(height) / 2 - Double(y) - middle)
                fill(x: x, y: y, with: Self.bin(of: angle))
                x += Self.cell
            }
            y += Self.cell
        }
    }

    /// The height of the skin at each pixel, from -1 (furrow) to 1 (ridge), and its minutiae.
    ///
    /// Grows until no more than `minutiae` are left, as every round smooths some away; but at least
    /// 5 rounds, so that there are ridges, and at most 24, as the flow itself needs some of them.
    /// With a `tile`, the noise is the same again every so many pixels either way.
    func grow(
        period: Double, minutiae: Int, tile: Int? = nil, from random: inout SplitMix64
    ) -> (skin: [Float], minutiae: Int) {
        var skin = [Float](repeating: 0, count: stride * (height + 2 * Self.reach))
        var index = 0
        while index < skin.count {
            skin[index] = Float(Int32(truncatingIfNeeded: random.next() >> 32)) / 2_147_483_648
            index += 1
        }
        if let tile {
            for row in 0..<(height + 2 * Self.reach) {
                for column in 0..<stride {
                    skin[row * stride + column] = skin[(row % tile) * stride + column % tile]
                }
            }
        }
        var smooth = [Float](repeating: 0, count: skin.count)
        let alongLines = RidgeLines(reach: Self.along, acrossRidges: false, stride: stride)
        let acrossLines = RidgeLines(
            reach: Self.across, acrossRidges: true, stride: stride, period: period, gain: 2.4)
        let census = RidgeCensus(growth: self, period: period)
        var round = 1
        while true {
            filter(skin, into: &smooth, through: alongLines)
            filter(smooth, into: &skin, through: acrossLines)
            swap(&skin, &smooth)
            soften(smooth, into: &skin)
            if round >= 5 {
                let inner = withoutFrame(skin)
                let left = census.count(in: inner)
                if left <= minutiae || round == 24 { return (inner, left) }
            }
            round += 1
        }
    }

    private func withoutFrame(_ skin: [Float]) -> [Float] {
        var inner: [Float] = []
        inner.reserveCapacity(width * height)
        for row in Self.reach..<(Self.reach + height) {
            let start = row * stride + Self.reach
            inner.append(contentsOf: skin[start..<(start + width)])
        }
        return inner
    }

    /// Writes to each pixel the weighted sum of the line of pixels that its direction names,
    /// clipped to -1…1.
    private func filter(_ source: [Float], into target: inout [Float], through lines: RidgeLines) {
        let taps = lines.reach
        // SAFETY: an offset reaches at most `reach` rows and columns, and the frame is that wide;
        // `directions` has a bin of `RidgeLines` for each inner pixel. Plain pointers are used
        // because checked access makes an unoptimised build many times slower.
        unsafe source.withUnsafeBufferPointer { source in
            unsafe target.withUnsafeMutableBufferPointer { target in
                unsafe directions.withUnsafeBufferPointer { directions in
                    unsafe lines.offsets.withUnsafeBufferPointer { offsets in
                        unsafe lines.weights.withUnsafeBufferPointer { weights in
                            guard let source = source.baseAddress,
                                let target = target.baseAddress,
                                let directions = directions.baseAddress,
                                let offsets = offsets.baseAddress,
                                let weights = weights.baseAddress
                            else { return }
                            var place = 0
                            var y = 0
                            while y < height {
                                var pixel = (y + Self.reach) * stride + Self.reach
                                let end = pixel + width
                                while pixel < end {
                                    let centre = unsafe source + pixel
                                    let bin = Int(unsafe directions[place])
                                    var offset = unsafe offsets + bin * taps
                                    var weight = unsafe weights + bin * (taps + 1)
                                    var sum = unsafe centre[0] * weight[0]
                                    var tap = 1
                                    while tap <= taps {
                                        let step = Int(unsafe offset[0])
                                        unsafe weight += 1
                                        unsafe sum += weight[0] * (centre[step] + centre[-step])
                                        unsafe offset += 1
                                        tap += 1
                                    }
                                    unsafe target[pixel] = sum > 1 ? 1 : (sum < -1 ? -1 : sum)
                                    pixel += 1
                                    place += 1
                                }
                                y += 1
                            }
                        }
                    }
                }
            }
        }
    }

    /// Takes out the chequerboard, which the rounded lines of the diagonals would let grow.
    private func soften(_ source: [Float], into target: inout [Float]) {
        // SAFETY: the frame is wider than the one pixel that is looked at around each inner pixel.
        unsafe source.withUnsafeBufferPointer { source in
            unsafe target.withUnsafeMutableBufferPointer { target in
                guard let source = source.baseAddress, let target = target.baseAddress else {
                    return
                }
                var y = 0
                while y < height {
                    var pixel = (y + Self.reach) * stride + Self.reach
                    let end = pixel + width
                    while pixel < end {
                        let centre = unsafe source + pixel
                        let sides = unsafe centre[1] + centre[-1]
                        let ends = unsafe centre[stride] + centre[-stride]
                        unsafe target[pixel] = (4 * centre[0] + sides + ends) / 8
                        pixel += 1
                    }
                    y += 1
                }
            }
        }
    }

    private mutating func fill(x: Int, y: Int, with bin: UInt8) {
        for row in y..<min(y + Self.cell, height) {
            for column in x..<min(x + Self.cell, width) {
                directions[row * width + column] = bin
            }
        }
    }

    private static func bin(of angle: Double) -> UInt8 {
        let halfTurns = angle / .pi
        let part = halfTurns - halfTurns.rounded(.down)
        let nearest = (part * Double(RidgeLines.bins)).rounded(.toNearestOrEven)
        return UInt8(Int(nearest) % RidgeLines.bins)
    }
}
