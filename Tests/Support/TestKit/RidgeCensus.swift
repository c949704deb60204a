// SPDX-License-Identifier: Apache-2.0

/// Counts the places where a ridge ends or forks.
///
/// Across the ridges the skin is a wave, and a wave has a phase at each place. On the way around a
/// minutia the phase gains or loses a turn; around any other place it comes back to itself.
struct RidgeCensus {
    /// The side of the squares that are walked around: a third of a ridge period.
    private static let step = 3
    /// How far from the edges counting begins.
    private static let frame = 24

    let growth: RidgeGrowth
    let period: Double

    /// The number of minutiae in `skin`, which is what `growth` grew.
    func count(in skin: [Float]) -> Int {
        let places = (x: columns, y: rows)
        var above: [Place] = []
        var minutiae = 0
        for row in 0..<places.y {
            let line = (0..<places.x).map { place(column: $0, row: row, in: skin) }
            for column in 0..<max(0, places.x - 1) where !above.isEmpty {
                let round = [
                    above[column], above[column + 1], line[column + 1], line[column],
                ]
                if turns(around: round) != 0 { minutiae += 1 }
            }
            above = line
        }
        return minutiae
    }

    private var columns: Int { max(0, growth.width - 2 * Self.frame) / Self.step }
    private var rows: Int { max(0, growth.height - 2 * Self.frame) / Self.step }

    private struct Place {
        let phase: Double
        let across: Double
    }

    private func place(column: Int, row: Int, in skin: [Float]) -> Place {
        let middle =
            (Self.frame + row * Self.step) * growth.width + Self.frame + column * Self.step
        let across = RidgeLines.angle(of: growth.directions[middle]) + .pi / 2
        let cosine = ExactMath.cosine(across)
        let sine = ExactMath.sine(across)
        var even = 0.0
        var odd = 0.0
        for distance in -6...6 {
            let x = Int((Double(distance) * cosine).rounded(.toNearestOrEven))
            let y = Int((Double(distance) * sine).rounded(.toNearestOrEven))
            let height = Double(skin[middle + x - y * growth.width])
            let wave = 2 * .pi * Double(distance) / period
            let window = 0.5 + 0.5 * ExactMath.cosine(.pi * Double(distance) / 7)
            even += height * window * ExactMath.cosine(wave)
            odd += height * window * ExactMath.sine(wave)
        }
        return Place(phase: ExactMath.angle(x: even, y: odd), across: across)
    }

    private func turns(around places: [Place]) -> Int {
        // A direction has no sense: where the neighbour's points the other way, its phase runs the
        // other way. All four are seen along the first.
        let seen = places.map { place in
            ExactMath.cosine(place.across - places[0].across) < 0 ? -place.phase : place.phase
        }
        var total = 0.0
        for index in seen.indices {
            let gain = (seen[(index + 1) % seen.count] - seen[index]) / (2 * .pi)
            total += gain - gain.rounded(.toNearestOrEven)
        }
        return Int(total.rounded(.toNearestOrEven))
    }
}
