// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite struct `Synthetic fingers` {
    static let finger = SyntheticFinger(seed: 2)
    var finger: SyntheticFinger { Self.finger }

    @Test func `the same seeds give the same bytes on every machine`() {
        #expect(finger.image(Touch(seed: 0)).digest == 0x774c_6387_3895_1030)
        #expect(SyntheticFinger(seed: 2).image(Touch(seed: 0)) == finger.image(Touch(seed: 0)))
    }

    @Test func `other seeds, sizes and touches give other pictures`() {
        let picture = finger.image(Touch(seed: 0))
        #expect(SyntheticFinger(seed: 3).image(Touch(seed: 0)) != picture)
        #expect(finger.image(Touch(seed: 1)) != picture)
        #expect(SyntheticFinger(seed: 2, size: .full).image(Touch(seed: 0)) != picture)
    }

    @Test(arguments: SyntheticFinger.Size.allCases)
    func `a picture has the sensor's size and is about half ridge`(size: SyntheticFinger.Size) {
        let picture = SyntheticFinger(seed: 1, size: size).image()
        #expect(picture.width == size.width)
        #expect(picture.height == size.height)
        let dark = picture.pixels.count { $0 < 128 }
        #expect((25...75).contains(100 * dark / picture.pixels.count))
    }

    @Test func `a finger has enough minutiae to be known and few enough not to be mistaken`() {
        for seed in UInt64(1)...8 {
            #expect((25...60).contains(SyntheticFinger(seed: seed).minutiae))
        }
    }

    @Test func `less contact leaves more of the sensor light`() {
        let whole = finger.image(Touch(contact: 1)).pixels.count { $0 > 235 }
        let part = finger.image(Touch(contact: 0.3)).pixels.count { $0 > 235 }
        #expect(part > 2 * whole + 5000)
    }

    @Test func `a touch stays within its bounds`() {
        let wild = Touch(
            dx: 1e9, dy: -.infinity, degrees: .nan, contact: -1, pressure: 7, noise: 7)
        #expect(wild.dx == 500)
        #expect(wild.dy == -500)
        #expect(wild.degrees == 0)
        #expect(wild.contact == 0.2)
        #expect(wild.pressure == 1)
        #expect(wild.noise == 1)
        #expect(finger.image(wild).pixels.count == 160 * 160)
    }

    @Test(arguments: UInt64(0)..<50) func `a seeded touch is a mild one`(seed: UInt64) {
        let touch = Touch(seed: seed)
        #expect(abs(touch.dx) <= 6 && abs(touch.dy) <= 6)
        #expect(abs(touch.degrees) <= 7)
        #expect(touch.contact >= 0.9)
    }
}

@Suite struct `Grey images` {
    @Test func `a picture without a value for each pixel is none`() {
        #expect(GreyImage(width: 2, height: 2, pixels: [1, 2, 3]) == nil)
        #expect(GreyImage(width: 0, height: 2, pixels: []) == nil)
    }

    @Test func `a PGM file is a head and the pixels`() throws {
        let picture = try #require(GreyImage(width: 2, height: 1, pixels: [7, 8]))
        #expect(picture.pgm == Array("P5\n2 1\n255\n".utf8) + [7, 8])
    }
}
