// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthModel
import SystemAuthorities
import SystemSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `polkit's decisions` {
    @BusQueue private final class Scene {
        let bus: PrivateBus
        let polkit: FakePolkit
        let connection: BusConnection
        let authority: PolkitAuthority
        let me: Caller

        init(_ bus: PrivateBus, _ patience: PolkitAuthority.Patience) async throws {
            self.bus = bus
            polkit = try await FakePolkit(bus)
            connection = try BusConnection(address: bus.address)
            authority = PolkitAuthority(
                on: connection, log: Log(topic: "polkit", threshold: .error), patience: patience)
            me = caller(connection.uniqueName)
        }

        func decide(_ who: Caller? = nil) async -> Decision {
            await authority.decide(.evaluate, for: who ?? me, interactive: false)
        }

        /// The answer, and how long it took.
        func timed() async -> (Decision, Duration) {
            let begun = ContinuousClock.now
            return (await decide(), .now - begun)
        }

        var questions: Int { polkit.questions.all.count }
    }

    private static func with(
        _ patience: PolkitAuthority.Patience = .init(),
        _ body: @escaping @Sendable @BusQueue (Scene) async throws -> Void
    ) async throws {
        let scene = try await Scene(try await PrivateBus(), patience)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(scene))
        } catch {
            result = .failure(error)
        }
        await scene.connection.close()
        await scene.polkit.close()
        try result.get()
    }

    @Test func `are kept, until all are to be forgotten`() async throws {
        try await Self.with { scene in
            for _ in 0..<3 { #expect(await scene.decide() == .granted) }
            #expect(scene.questions == 1)
            scene.polkit.answer = { _ in .no }
            await scene.authority.forgetAll()
            for _ in 0..<3 { #expect(await scene.decide() == .denied) }
            #expect(scene.questions == 2)
        }
    }

    @Test func `that come when the caller has left are not kept`() async throws {
        try await Self.with { scene in
            scene.polkit.answer = { _ in .later }
            async let late = scene.decide()
            await scene.polkit.questions.next()
            scene.authority.forget(scene.me.connection)
            scene.polkit.answerOpenQuestions(true)
            #expect(await late == .granted)
            scene.polkit.answer = { _ in .no }
            #expect(await scene.decide() == .denied)
            #expect(scene.questions == 2)
        }
    }

    @Test func `that were under way when all were forgotten are not kept`() async throws {
        try await Self.with { scene in
            scene.polkit.answer = { _ in .later }
            async let late = scene.decide()
            await scene.polkit.questions.next()
            await scene.authority.forgetAll()
            scene.polkit.answerOpenQuestions(true)
            #expect(await late == .granted)
            scene.polkit.answer = { _ in .no }
            #expect(await scene.decide() == .denied)
        }
    }

    private static var short: PolkitAuthority.Patience {
        var patience = PolkitAuthority.Patience()
        patience.atFirst = .milliseconds(1_500)
        patience.later = .milliseconds(100)
        return patience
    }

    @Test func `of a polkit that hangs are waited for once, and shortly afterwards`() async throws {
        try await Self.with(Self.short) { scene in
            scene.polkit.answer = { _ in .later }
            let (first, long) = await scene.timed()
            #expect(first == .unanswered)
            #expect(long > .milliseconds(1_400))
            for _ in 0..<3 {
                let (next, time) = await scene.timed()
                #expect(next == .unanswered)
                #expect(time < .seconds(3), "\(time)")
            }
            // An answer in the short time is one, and ends the mistrust.
            scene.polkit.answer = { _ in .yes }
            #expect(await scene.decide() == .granted)
        }
    }

    @Test func `are waited for again when polkit has said something`() async throws {
        try await Self.with(Self.short) { scene in
            scene.polkit.answer = { _ in .later }
            _ = await scene.decide()
            scene.polkit.tellChange()
            try await scene.polkit.settle()
            // What was told has come before this is answered.
            _ = try await scene.connection.credentials(
                of: scene.connection.uniqueName, deadline: .seconds(30))
            #expect(await scene.timed().1 > .milliseconds(1_400))
        }
    }

    @Test func `are waited for again after a while`() async throws {
        var patience = Self.short
        patience.memory = .zero
        try await Self.with(patience) { scene in
            scene.polkit.answer = { _ in .later }
            for _ in 0..<2 { #expect(await scene.timed().1 > .milliseconds(1_400)) }
        }
    }
}
