// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// What is asked of polkit, and what becomes of it while polkit asks the user.
@Suite(.timeLimit(.minutes(1))) struct `Questions to polkit` {
    static let configuration = """
        [Authorization]
        Sessions=none
        """

    @Test func `are asked once, until polkit says that things changed`() async throws {
        let bus = try await PrivateBus()
        let polkit = try await FakePolkit(bus)
        let service = try await TestService(
            .storage, configuration: Self.configuration, bus: bus)
        let client = try await TestClient(service.bus)
        for _ in 0..<3 { #expect(try await client.can().code == -7) }
        let all = await polkit.questions.all
        #expect(all.map(\.action) == ["org.example.localauth.evaluate"])
        #expect(all.map(\.subject) == [await client.connection.uniqueName.rawValue])
        #expect(all.map(\.isInteractive) == [false])

        await polkit.refuseEverything()
        #expect(try await client.can().code == -7)
        await polkit.tellChange()
        #expect(try await client.can().code == -1004)
        #expect(await polkit.questions.all.count == 2)

        // Another connection is another question.
        let other = try await TestClient(bus)
        #expect(try await other.can().code == -1004)
        #expect(await polkit.questions.all.count == 3)
        await polkit.close()
    }

    @Test(arguments: [true, false])
    func `let polkit ask the user only where the caller allows it`(isAllowed: Bool) async throws {
        let bus = try await PrivateBus()
        let polkit = try await FakePolkit(bus) { _ in .no }
        let service = try await TestService(
            .storage, configuration: Self.configuration, bus: bus)
        let nobody = OtherUser(on: service.bus)
        let result = try await nobody.evaluateWithBusctl(interactive: isAllowed)
        #expect(result.status != 0)
        #expect(result.errors.contains("policy does not allow this"))
        #expect(await polkit.questions.all.map(\.isInteractive) == [isAllowed])
    }

    @Test func `end with the caller, and nothing starts`() async throws {
        let bus = try await PrivateBus()
        let polkit = try await FakePolkit(bus)
        let service = try await TestService(
            .storage, configuration: Self.configuration, bus: bus)
        let watcher = try await TestClient(bus)
        try await enrol("left-thumb", with: service.hand(on: .storage), by: watcher)
        _ = try await watcher.call(Watch.self, NoValues())
        await polkit.keepQuestionsOpen()

        let client = try await TestClient(bus)
        let evaluation = Task { try await client.evaluateInteractively() }
        let question = try #require(await polkit.questions.next { $0.isInteractive })
        await client.close()
        _ = await evaluation.result
        #expect(await polkit.withdrawals.next() == question.cancellationID)
        // Whatever is answered now comes too late.
        await polkit.answerOpenQuestions(true)
        await polkit.sayYes()
        let next = Task { try await watcher.evaluate(["token": .string("next")]) }
        await watcher.fingerIsNeeded()
        try await service.hand(on: .storage).touch(number: 1)
        #expect(try await next.value["token"] == .string("next"))
        let tokens = await watcher.heard.compactMap { heard in
            if case .progress(let token, _) = heard { token } else { nil }
        }
        #expect(Set(tokens) == ["next"])
    }

    @Test func `end when the evaluation is cancelled or out of time`() async throws {
        let bus = try await PrivateBus()
        let polkit = try await FakePolkit(bus)
        let service = try await TestService(
            .storage, configuration: Self.configuration, bus: bus)
        let client = try await TestClient(bus)
        try await enrol("left-thumb", with: service.hand(on: .storage), by: client)
        await polkit.keepQuestionsOpen()

        let cancelled = Task { try await client.evaluateInteractively() }
        let first = await polkit.questions.next { $0.isInteractive }
        try await client.cancel()
        #expect(await error(of: cancelled) == .appCancel)
        #expect(await polkit.withdrawals.next() == first?.cancellationID)

        let late = Task { try await client.evaluateInteractively(["timeout": .uint32(1)]) }
        let second = await polkit.questions.next { $0.isInteractive }
        #expect(await error(of: late) == .timeout)
        #expect(await polkit.withdrawals.next() == second?.cancellationID)
    }

    @Test func `of one user keep nobody else waiting`() async throws {
        let bus = try await PrivateBus()
        let polkit = try await FakePolkit(bus)
        let service = try await TestService(
            .storage, configuration: Self.configuration, bus: bus)
        let client = try await TestClient(bus)
        let hand = service.hand(on: .storage)
        try await enrol("left-thumb", with: hand, by: client, user: "nobody")
        await polkit.keepQuestionsOpen(of: client.connection.uniqueName.rawValue)
        let asked = Task { try await client.evaluateInteractively() }
        _ = await polkit.questions.next { $0.isInteractive }

        async let accepted = OtherUser(on: bus).evaluate()
        try await hand.touch(number: 1)
        #expect(try await accepted.contains("'method': <'biometrics'>"))
        #expect(await polkit.withdrawals.all == [])

        // A no to the question is a no.
        await polkit.answerOpenQuestions(false)
        #expect(await error(of: asked) == .notAuthorized)
    }

    @Test func `are asked again when people come and go, on which the answer may depend`()
        async throws
    {
        let bus = try await PrivateBus()
        let polkit = try await FakePolkit(bus)
        let logind = try await FakeLogind(bus)
        await logind.add("c1")
        await logind.place(getpid(), in: "c1")
        let service = try await TestService(.storage, configuration: "", bus: bus)
        let client = try await TestClient(service.bus)
        for _ in 0..<2 { #expect(try await client.can().code == -7) }
        #expect(await polkit.questions.all.count == 1)
        await polkit.refuseEverything()
        await logind.add("c2")
        await client.next { $0 == .environmentChanged }
        #expect(try await client.can().code == -1004)
        #expect(await polkit.questions.all.count == 2)
        await logind.close()
    }

    @Test func `that nobody answers mean no, in bounded time`() async throws {
        let bus = try await PrivateBus()
        let polkit = try await FakePolkit(bus) { _ in .later }
        let service = try await TestService(
            .storage, configuration: Self.configuration, bus: bus)
        let client = try await TestClient(bus)
        let mute = ContinuousClock.now
        #expect(try await client.can().code == -1004)
        #expect(.now - mute < .seconds(15))

        await polkit.close()
        let gone = ContinuousClock.now
        #expect(try await client.can().code == -1004)
        let refused = Task { try await client.evaluate() }
        #expect(await error(of: refused) == .notAuthorized)
        #expect(.now - gone < .seconds(3))
        #expect(service.daemon.isRunning)
    }
}

extension FakePolkit {
    func sayYes() { answer = { _ in .yes } }
    func refuseEverything() { answer = { _ in .no } }
    func keepQuestionsOpen(of subject: String? = nil) {
        answer = { question in
            let isMeant = subject == nil || subject == question.subject
            return isMeant && question.isInteractive ? .later : .yes
        }
    }
}

extension TestClient {
    /// Evaluates, and lets polkit ask the user first.
    func evaluateInteractively(
        _ options: [String: BusValue] = [:]
    ) async throws(BusError) -> [String: BusValue] {
        try await service.call(
            EvaluatePolicy.self,
            EvaluatePolicy.Arguments(
                policy: 1, localizedReason: "open the safe", options: options),
            at: Service.path, deadline: .seconds(60), interactive: true
        ).result
    }
}
