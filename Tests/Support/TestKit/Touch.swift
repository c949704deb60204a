// SPDX-License-Identifier: Apache-2.0

/// How a finger is laid on the sensor. Every value is held within bounds.
package struct Touch: Hashable, Sendable {
    /// How far the finger lies to the right, and down, in pixels: at most 500 either way, which is
    /// beside every sensor.
    package let dx: Double
    package let dy: Double
    /// How far it is turned, clockwise: at most 180 either way.
    package let degrees: Double
    /// How much of the sensor it covers: 1 is all, the least is 0.2.
    package let contact: Double
    /// How hard it is pressed: 0 is middling, -1 faint with thin ridges, 1 dark with thick ones.
    package let pressure: Double
    /// How noisy the picture is: 0 not at all, 1 so that hardly a minutia survives.
    package let noise: Double
    /// From what the noise and the give of the skin are drawn.
    package let seed: UInt64

    package init(
        dx: Double = 0, dy: Double = 0, degrees: Double = 0, contact: Double = 1,
        pressure: Double = 0, noise: Double = 0.05, seed: UInt64 = 0
    ) {
        self.dx = Self.bounded(dx, -500, 500)
        self.dy = Self.bounded(dy, -500, 500)
        self.degrees = Self.bounded(degrees, -180, 180)
        self.contact = Self.bounded(contact, 0.2, 1)
        self.pressure = Self.bounded(pressure, -1, 1)
        self.noise = Self.bounded(noise, 0, 1)
        self.seed = seed
    }

    /// One of any number of touches such as a person makes who takes care: a little off the middle,
    /// a little turned, not quite the whole sensor.
    package init(seed: UInt64) {
        var random = SplitMix64(seed: seed, stream: 3)
        self.init(
            dx: random.between(-6, 6), dy: random.between(-6, 6),
            degrees: random.between(-7, 7), contact: random.between(0.9, 1),
            pressure: random.between(-0.4, 0.4), noise: random.between(0.02, 0.1), seed: seed)
    }

    private static func bounded(_ value: Double, _ low: Double, _ high: Double) -> Double {
        value.isNaN ? 0.5 * (low + high) : max(low, min(high, value))
    }
}
