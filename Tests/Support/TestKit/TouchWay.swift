// SPDX-License-Identifier: Apache-2.0

/// A way of touching: what differs from the touch of a person who takes care, and by how much.
package struct TouchWay: Hashable, Sendable {
    package let name: String
    /// What it is, in words for a report.
    package let summary: String
    /// How far off the middle, in pixels, in any direction.
    let shift: Double
    /// How far turned, in degrees, either way.
    let turn: Double
    /// How much of what a careful touch covers.
    let contact: Double
    /// How hard and how noisy, as in `Touch`; `nil` is as in a careful touch.
    let pressure: Double?
    let noise: Double?

    private init(
        _ name: String, _ summary: String, shift: Double = 0, turn: Double = 0,
        contact: Double = 1, pressure: Double? = nil, noise: Double? = nil
    ) {
        self.name = name
        self.summary = summary
        self.shift = shift
        self.turn = turn
        self.contact = contact
        self.pressure = pressure
        self.noise = noise
    }

    package static let careful = TouchWay("careful", "as when enrolling")

    /// Every way, the careful one first.
    package static let all: [TouchWay] = [
        careful,
        TouchWay("shifted-10", "about 10 pixels off", shift: 10),
        TouchWay("shifted-20", "about 20 pixels off", shift: 20),
        TouchWay("shifted-40", "about 40 pixels off", shift: 40),
        TouchWay("turned-10", "turned by about 10°", turn: 10),
        TouchWay("turned-20", "turned by about 20°", turn: 20),
        TouchWay("turned-30", "turned by about 30°", turn: 30),
        TouchWay("turned-45", "turned by about 45°", turn: 45),
        TouchWay("partial-70", "70 % as wide and high", contact: 0.7),
        TouchWay("partial-50", "50 % as wide and high", contact: 0.5),
        TouchWay("partial-35", "35 % as wide and high", contact: 0.35),
        TouchWay("tip", "a fifth as wide and high", contact: 0.2),
        TouchWay("faint", "pressed lightly", pressure: -0.9),
        TouchWay("dark", "pressed hard", pressure: 0.9),
        TouchWay("noisy", "grainy", noise: 0.4),
        TouchWay("very-noisy", "very grainy", noise: 0.8),
        TouchWay("dry", "grainy and light", pressure: -0.9, noise: 0.4),
        TouchWay(
            "hurried", "a little of all", shift: 12, turn: 15, contact: 0.7, noise: 0.2),
        TouchWay(
            "careless", "more of all", shift: 20, turn: 25, contact: 0.5, noise: 0.3),
        TouchWay("missed", "beside the sensor", shift: 500),
    ]

    /// The way of that name.
    package init?(name: String) {
        guard let way = Self.all.first(where: { $0.name == name }) else { return nil }
        self = way
    }
}

extension Touch {
    /// One of any number of touches in that way; the careful ones are those of the seed alone.
    package init(_ way: TouchWay, seed: UInt64) {
        let careful = Touch(seed: seed)
        var random = SplitMix64(seed: seed, stream: 5)
        let direction = random.between(-.pi, .pi)
        let turn = random.next() & 1 == 0 ? way.turn : -way.turn
        self.init(
            dx: careful.dx + way.shift * ExactMath.cosine(direction),
            dy: careful.dy + way.shift * ExactMath.sine(direction),
            degrees: careful.degrees + turn, contact: careful.contact * way.contact,
            pressure: way.pressure ?? careful.pressure, noise: way.noise ?? careful.noise,
            seed: seed)
    }
}
