// SPDX-License-Identifier: Apache-2.0

/// The classes of ridge flow; `tiled` is none that a person has.
package enum RidgePattern: String, CaseIterable, Sendable {
    case arch, tentedArch, leftLoop, rightLoop, whorl, tiled
}

/// Which way the ridges run at each place of a finger.
///
/// After Sherlock and Monro (1993): half the sum of the angles seen from the cores less that of the
/// deltas. A gentle wave is added, so that no two fingers of a class flow alike. Coordinates are in
/// pixels from the middle of the finger, y upwards.
struct RidgeDirections {
    let pattern: RidgePattern
    private var cores: [(x: Double, y: Double)] = []
    private var deltas: [(x: Double, y: Double)] = []
    private var waves: [(x: Double, y: Double, phase: Double, height: Double)] = []
    private var steepness = 0.0

    init(from random: inout SplitMix64) {
        // Loops are the most frequent among people, too; arches have the fewest features.
        let classes: [RidgePattern] = [
            .leftLoop, .rightLoop, .whorl, .leftLoop, .rightLoop, .whorl, .tentedArch, .arch,
        ]
        pattern = classes[Int(random.next() % UInt64(classes.count))]
        let side = random.between(70, 95)
        let below = -random.between(75, 105)
        let shift = random.between(-12, 12)
        let lift = random.between(-10, 14)
        switch pattern {
        case .tiled: break
        case .arch:
            steepness = random.between(0.5, 0.9)
        case .tentedArch:
            cores = [(shift, lift)]
            deltas = [(shift + random.between(-8, 8), below + 20)]
        case .leftLoop:
            cores = [(shift, lift)]
            deltas = [(side, below)]
        case .rightLoop:
            cores = [(shift, lift)]
            deltas = [(-side, below)]
        case .whorl:
            let gap = random.between(8, 24)
            let lean = random.between(-8, 8)
            cores = [(shift + lean, lift + gap), (shift - lean, lift - gap)]
            deltas = [(-side, below), (side, below + random.between(-12, 12))]
        }
        // The short waves drive ridges together and apart, which takes minutiae everywhere.
        for (lengths, heights) in [((140.0, 320.0), (0.08, 0.18)), ((70, 130), (0.03, 0.07))] {
            for _ in 0..<3 {
                let heading = random.between(-.pi, .pi)
                let pace = 2 * .pi / random.between(lengths.0, lengths.1)
                waves.append(
                    (
                        pace * ExactMath.cosine(heading), pace * ExactMath.sine(heading),
                        random.between(-.pi, .pi), random.between(heights.0, heights.1)
                    ))
            }
        }
    }

    /// Ridges that run up and down in waves, the same again every `tile` pixels either way.
    init(tile: Double, from random: inout SplitMix64) {
        pattern = .tiled
        for (x, y) in [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
            waves.append(
                (
                    2 * .pi / tile * x, 2 * .pi / tile * y, random.between(-.pi, .pi),
                    random.between(0.2, 0.35)
                ))
        }
    }

    /// The direction of the ridges at a place, in radians; half a turn more is the same direction.
    func direction(x: Double, y: Double) -> Double {
        var twice = 0.0
        for core in cores { twice += ExactMath.angle(x: x - core.x, y: y - core.y) }
        for delta in deltas { twice -= ExactMath.angle(x: x - delta.x, y: y - delta.y) }
        var direction = twice / 2
        if pattern == .arch {
            // Ridges climb to the middle and fall again, less and less towards the joint.
            let slope = steepness * max(0, min(1, (y + 110) / 150))
            direction += ExactMath.angle(x: 1, y: -slope * ExactMath.sine(x / 55))
        }
        for wave in waves {
            direction += wave.height * ExactMath.sine(wave.x * x + wave.y * y + wave.phase)
        }
        return direction
    }
}
