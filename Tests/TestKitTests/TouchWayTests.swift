// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite struct `Ways of touching` {
    static let seeds = UInt64(0)..<200

    private func way(_ name: String) throws -> TouchWay {
        try #require(TouchWay(name: name), "\(name)")
    }

    /// How far, turned how much, and so on: each touch of a way beside the careful one.
    private func touches(_ name: String) throws -> [(Touch, careful: Touch)] {
        let way = try way(name)
        return Self.seeds.map { (Touch(way, seed: $0), Touch(seed: $0)) }
    }

    @Test func `each has a name of its own, and the careful one changes nothing`() {
        #expect(Set(TouchWay.all.map(\.name)).count == TouchWay.all.count)
        #expect(TouchWay.all.first == .careful)
        #expect(TouchWay(name: "upside-down") == nil)
        for seed in Self.seeds { #expect(Touch(.careful, seed: seed) == Touch(seed: seed)) }
    }

    @Test func `the others change every touch, and no two the same`() {
        for way in TouchWay.all where way != .careful {
            for seed in Self.seeds { #expect(Touch(way, seed: seed) != Touch(seed: seed)) }
        }
        #expect(Set(TouchWay.all.map { Touch($0, seed: 1) }).count == TouchWay.all.count)
    }

    @Test(arguments: [("shifted-10", 10.0), ("shifted-20", 20.0), ("shifted-40", 40.0)])
    func `shifted is so many pixels in every direction`(name: String, pixels: Double) throws {
        var quarters: Set<[Bool]> = []
        for (touch, careful) in try touches(name) {
            let x = touch.dx - careful.dx
            let y = touch.dy - careful.dy
            #expect(abs((x * x + y * y).squareRoot() - pixels) < 1e-6)
            #expect(touch.degrees == careful.degrees && touch.contact == careful.contact)
            quarters.insert([x > 0, y > 0])
        }
        #expect(quarters.count == 4)
    }

    @Test(arguments: [
        ("turned-10", 10.0), ("turned-20", 20.0), ("turned-30", 30.0), ("turned-45", 45.0),
    ]) func `turned is so many degrees, half of them either way`(name: String, turn: Double) throws
    {
        let turns = try touches(name).map { $0.degrees - $1.degrees }
        #expect(turns.allSatisfy { abs(abs($0) - turn) < 1e-9 })
        #expect((70...130).contains(turns.count { $0 > 0 }))
    }

    @Test(arguments: [("partial-70", 0.7), ("partial-50", 0.5), ("partial-35", 0.35)])
    func `partial covers so much of what a careful touch does`(name: String, part: Double) throws {
        for (touch, careful) in try touches(name) {
            #expect(abs(touch.contact - part * careful.contact) < 1e-9)
        }
    }

    @Test func `pressure and noise go the way their names say`() throws {
        for (touch, careful) in try touches("faint") { #expect(touch.pressure < careful.pressure) }
        for (touch, careful) in try touches("dark") { #expect(touch.pressure > careful.pressure) }
        for (touch, careful) in try touches("noisy") { #expect(touch.noise > careful.noise) }
        for (touch, careful) in try touches("dry") {
            #expect(touch.noise > careful.noise && touch.pressure < careful.pressure)
        }
        for (touch, noisy) in zip(try touches("very-noisy"), try touches("noisy")) {
            #expect(touch.0.noise > noisy.0.noise)
        }
    }

    @Test(arguments: SyntheticFinger.Size.allCases)
    func `missed leaves nothing on the sensor`(size: SyntheticFinger.Size) throws {
        let finger = SyntheticFinger(seed: 1, size: size)
        for seed in Self.seeds.prefix(8) {
            let pixels = finger.image(Touch(try way("missed"), seed: seed)).pixels
            #expect(pixels.allSatisfy { $0 > 235 })
        }
    }

    @Test func `hurried is a little of all, careless is more`() throws {
        let hurried = try touches("hurried")
        let careless = try touches("careless")
        for ((hurried, careful), (careless, _)) in zip(hurried, careless) {
            let turn = abs(hurried.degrees - careful.degrees)
            #expect(turn > 1 && abs(careless.degrees - careful.degrees) > turn)
            #expect(hurried.contact < careful.contact && careless.contact < hurried.contact)
            #expect(hurried.noise > careful.noise && careless.noise > hurried.noise)
        }
    }

    @Test func `the picture changes with the way, the same on every machine`() throws {
        let finger = SyntheticFinger(seed: 2)
        #expect(finger.image(Touch(.careful, seed: 0)).digest == 0x774c_6387_3895_1030)
        #expect(finger.image(Touch(try way("hurried"), seed: 0)).digest == 0xdb71_409e_06d6_be52)
        let pictures = TouchWay.all.map { finger.image(Touch($0, seed: 3)).digest }
        #expect(Set(pictures).count == TouchWay.all.count)
    }
}
