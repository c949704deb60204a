// SPDX-License-Identifier: Apache-2.0

/// The generator "SplitMix64": fast, seeded with any number, the same on every machine.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// A generator of its own for each `stream` of one seed, so that drawing more in one place
    /// changes nothing in another.
    package init(seed: UInt64, stream: UInt64) {
        var mixer = SplitMix64(seed: seed)
        state = mixer.next() ^ (stream &* 0xd134_2543_de82_ef95)
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from `low` up to, but not including, `high`.
    package mutating func between(_ low: Double, _ high: Double) -> Double {
        low + (high - low) * (Double(next() >> 11) / 9_007_199_254_740_992)
    }
}
