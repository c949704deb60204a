// SPDX-License-Identifier: Apache-2.0

internal import TestKit

/// Which pictures are wanted.
struct Selection {
    var finger: UInt64 = 1
    var touches: ClosedRange<UInt64> = 0...0
    var ways = [TouchWay.careful]
    var size = SyntheticFinger.Size.small
    var wrong = false

    /// The first of the touches.
    var image: GreyImage { synthetic.image(Touch(ways[0], seed: touches.lowerBound)) }

    /// All of them: one way after the other.
    var images: [GreyImage] {
        let finger = synthetic
        return ways.flatMap { way in touches.map { finger.image(Touch(way, seed: $0)) } }
    }

    private var synthetic: SyntheticFinger {
        // Numbers people type are small; the wrong finger's seed is beyond them.
        SyntheticFinger(seed: wrong ? finger &+ 1_000_000 : finger, size: size)
    }
}
