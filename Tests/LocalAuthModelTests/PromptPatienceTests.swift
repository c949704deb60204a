// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

@Suite struct `The patience with prompts that run out` {
    private typealias Asker = PromptPatience.Asker

    private static let alice = valid(UserID(1_000))
    private static let bob = valid(UserID(1_001))

    private func asker(_ user: UserID = Self.alice, _ name: String? = nil) -> Asker {
        Asker(user: user, program: name.map { CallerProgram(name: $0, evidence: .unverified) })
    }

    private func pauses(_ asker: Asker, after failures: Int) -> Duration {
        var patience = PromptPatience()
        for _ in 0..<failures { patience.noteVain(asker, at: .seconds(100)) }
        return patience.pause(for: asker, at: .seconds(100))
    }

    @Test func `ends after three, and then each prompt waits longer, but not for ever`() {
        let seconds = (0...9).map { pauses(asker(), after: $0).components.seconds }
        #expect(seconds == [0, 0, 0, 2, 4, 8, 16, 30, 30, 30])
        #expect(pauses(asker(), after: 10_000) == .seconds(30))
    }

    @Test func `counts the time since the last, so that who asks rarely never waits`() {
        var patience = PromptPatience()
        for number in UInt64(0)..<100 {
            #expect(patience.pause(for: asker(), at: .seconds(100 + 60 * number)) == .zero)
            patience.noteVain(asker(), at: .seconds(100 + 60 * number))
        }
        let now = BootTime.seconds(100 + 60 * 99 + 10)
        #expect(patience.pause(for: asker(), at: now) == .seconds(20))
    }

    @Test func `comes back with a touch of the same user, for all of its programs`() {
        var patience = PromptPatience()
        for _ in 0..<5 {
            for asker in [asker(), asker(Self.alice, "vault"), asker(Self.bob)] {
                patience.noteVain(asker, at: .seconds(1))
            }
        }
        patience.noteTouch(by: Self.alice)
        #expect(patience.pause(for: asker(), at: .seconds(1)) == .zero)
        #expect(patience.pause(for: asker(Self.alice, "vault"), at: .seconds(1)) == .zero)
        #expect(!patience.remembers(Self.alice))
        #expect(patience.pause(for: asker(Self.bob), at: .seconds(1)) == .seconds(8))
    }

    @Test func `is lost by one program and not by others`() {
        var patience = PromptPatience()
        for _ in 0..<5 { patience.noteVain(asker(Self.alice, "nag"), at: .seconds(1)) }
        #expect(patience.pause(for: asker(Self.alice, "vault"), at: .seconds(1)) == .zero)
        #expect(patience.pause(for: asker(Self.alice, "nag"), at: .seconds(1)) > .zero)
    }

    @Test func `forgets what was long ago, and remembers only so many`() {
        var patience = PromptPatience()
        for _ in 0..<5 { patience.noteVain(asker(Self.bob), at: .seconds(0)) }
        for number in 0..<1_000 {
            patience.noteVain(asker(Self.alice, "\(number)"), at: .seconds(1_000))
        }
        #expect(!patience.remembers(Self.bob))
        var count = 0
        for number in 0..<1_000 {
            var copy = patience
            for _ in 0..<2 {
                copy.noteVain(asker(Self.alice, "\(number)"), at: .seconds(1_000))
            }
            if copy.pause(for: asker(Self.alice, "\(number)"), at: .seconds(1_000)) > .zero {
                count += 1
            }
        }
        #expect(count == PromptPatience.limit)
    }
}
