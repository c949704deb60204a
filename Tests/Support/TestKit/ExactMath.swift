// SPDX-License-Identifier: Apache-2.0

/// Sine, cosine and arc tangent from the four operations and the square root only.
///
/// IEEE 754 fixes those to the last bit, but not the functions of libm, whose result depends on
/// the library and the processor. A synthetic finger is to be the same bytes everywhere.
enum ExactMath {
    /// The sine of an angle in radians; better than 1e-9 for angles within some turns.
    static func sine(_ angle: Double) -> Double {
        let turns = (angle / (2 * .pi)).rounded(.toNearestOrEven)
        let reduced = angle - turns * 2 * .pi
        let square = reduced * reduced
        var term = reduced
        var sum = reduced
        var n = 1.0
        while n < 12 {
            term *= -square / (2 * n * (2 * n + 1))
            sum += term
            n += 1
        }
        return sum
    }

    /// The cosine of an angle in radians.
    static func cosine(_ angle: Double) -> Double { sine(angle + .pi / 2) }

    /// The angle of the point (`x`, `y`) in radians, from -π to π; 0 for the origin.
    static func angle(x: Double, y: Double) -> Double {
        let wide = abs(x)
        let tall = abs(y)
        guard wide > 0 || tall > 0 else { return 0 }
        var result = firstOctant(min(wide, tall) / max(wide, tall))
        if tall > wide { result = .pi / 2 - result }
        if x < 0 { result = .pi - result }
        return y < 0 ? -result : result
    }

    /// The arc tangent of a number between 0 and 1.
    private static func firstOctant(_ tangent: Double) -> Double {
        // The half angle, twice: what is left is below 0.2, where the series is short.
        let half = tangent / (1 + (1 + tangent * tangent).squareRoot())
        let quarter = half / (1 + (1 + half * half).squareRoot())
        let square = quarter * quarter
        var power = quarter
        var sum = quarter
        var n = 3.0
        while n < 15 {
            power *= -square
            sum += power / n
            n += 2
        }
        return 4 * sum
    }
}
