// SPDX-License-Identifier: Apache-2.0

/// For each of the directions, a line of pixels through the middle and their weights.
struct RidgeLines {
    /// How many directions there are in half a turn.
    static let bins = 32

    /// The middle of a direction, in radians.
    static func angle(of bin: UInt8) -> Double { Double(bin) * .pi / Double(bins) }

    let reach: Int
    /// For each direction, the distance in memory to the 1st, 2nd, … pixel; the other side of the
    /// line is its mirror image.
    private(set) var offsets: [Int32] = []
    /// For each direction, the weight of the middle and of the 1st, 2nd, … pixel.
    private(set) var weights: [Float] = []

    /// A raised cosine, times a wave of `period` if there is one. The absolute weights of a line
    /// sum to `gain`; those of a wave sum to nothing, so that evenly bright skin passes as nothing.
    init(
        reach: Int, acrossRidges: Bool, stride: Int, period: Double? = nil, gain: Double = 1
    ) {
        self.reach = reach
        for bin in 0..<Self.bins {
            let ridge = Self.angle(of: UInt8(bin))
            let angle = acrossRidges ? ridge + .pi / 2 : ridge
            let cosine = ExactMath.cosine(angle)
            let sine = ExactMath.sine(angle)
            var distances = [0.0]
            for step in 1...reach {
                let x = (Double(step) * cosine).rounded(.toNearestOrEven)
                let y = (Double(step) * sine).rounded(.toNearestOrEven)
                offsets.append(Int32(Int(x) - Int(y) * stride))
                // Of the pixel that was hit, which is not quite where the step led.
                distances.append(x * cosine + y * sine)
            }
            weights += Self.weights(distances, reach: reach, period: period, gain: gain)
        }
    }

    private static func weights(
        _ distances: [Double], reach: Int, period: Double?, gain: Double
    ) -> [Float] {
        let window = distances.map { 0.5 + 0.5 * ExactMath.cosine(.pi * $0 / Double(reach + 1)) }
        var weights = window
        if let period {
            weights = zip(window, distances).map { $0 * ExactMath.cosine(2 * .pi * $1 / period) }
            let excess = sumOfBothSides(weights) / sumOfBothSides(window)
            weights = zip(weights, window).map { $0 - $1 * excess }
        }
        let total = sumOfBothSides(weights.map(abs))
        return weights.map { Float($0 * gain / total) }
    }

    private static func sumOfBothSides(_ half: [Double]) -> Double {
        2 * half.reduce(0, +) - half[0]
    }
}
