// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication
import SystemSupport
import Testing

/// What goes over the bus, and what is made of what comes back.
@Suite(.timeLimit(.minutes(1))) struct `A call of the service` {
    @Test func `carries only what was set`() async throws {
        let scene = try await FakeScene()
        let context = scene.context()
        #expect(try await scene.options(of: context) == ["timeout": .uint32(170)])
        context.localizedFallbackTitle = ""
        context.localizedCancelTitle = "No"
        context.interactionNotAllowed = true
        context.touchIDAuthenticationAllowableReuseDuration = 9.9
        let options = LAEvaluationOptions(
            timeout: 2.5, challenge: Data(repeating: 1, count: 16),
            requiredDomainState: Data([2]), parentWindow: "x11:1", user: "alice")
        #expect(
            try await scene.options(options, of: context) == [
                "timeout": .uint32(3), "fallback-title": .string(""),
                "cancel-title": .string("No"), "interaction-not-allowed": .bool(true),
                "reuse-duration": .uint32(9),
                "challenge": .bytes(Array(repeating: 1, count: 16)),
                "required-domain-state": .bytes([2]), "parent-window": .string("x11:1"),
                "user": .string("alice"),
            ])
        context.localizedFallbackTitle = nil
        context.interactionNotAllowed = false
        context.touchIDAuthenticationAllowableReuseDuration = 0
        #expect(
            try await scene.options(of: context) == [
                "timeout": .uint32(170), "cancel-title": .string("No"),
            ])
    }

    @Test func `that succeeds after it was canceled authenticates nobody`() async throws {
        let scene = try await FakeScene()
        let context = scene.context()
        let canceled = Task {
            try await context.evaluatePolicy(biometrics, localizedReason: "open")
        }
        let late = try #require(await scene.service.evaluations.next())
        canceled.cancel()
        #expect(await error { try await canceled.value }?.code == .appCancel)
        late.answer(EvaluatePolicy.Reply(result: ["method": .string("biometrics")]))
        // On the same connection, and so after the answer.
        _ = LAEnvironment(link: scene.link).state
        let asked = Task { try await context.evaluatePolicy(biometrics, localizedReason: "open") }
        // Where the late success counted, nobody would be asked; then the time is over.
        await scene.service.evaluations.next()?.fail(ServiceError.userCancel)
        #expect(await error { try await asked.value }?.code == .userCancel)
    }

    @Test(arguments: [
        (-1.0, 0.0), (0, 0), (.nan, 0), (12.5, 12.5), (300, 300), (301, 300), (.infinity, 300),
    ])
    func `has a reuse duration within bounds`(set: TimeInterval, got: TimeInterval) async throws {
        let context = LAContext()
        context.touchIDAuthenticationAllowableReuseDuration = set
        #expect(context.touchIDAuthenticationAllowableReuseDuration == got)
        #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == 300)
    }

    @Test(arguments: [
        (-1.0, UInt32(1)), (0, 1), (.nan, 170), (.infinity, 170), (171, 170), (20, 20),
    ])
    func `has a time limit within bounds`(timeout: TimeInterval, sent: UInt32) async throws {
        let scene = try await FakeScene()
        let options = try await scene.options(
            LAEvaluationOptions(timeout: timeout), of: scene.context())
        #expect(options == ["timeout": .uint32(sent)])
    }

    @Test func `has a token of its own, and cancels by that`() async throws {
        let scene = try await FakeScene()
        let context = scene.context()
        let tasks = (0..<2).map { _ in
            Task { try await context.evaluatePolicy(biometrics, localizedReason: "open") }
        }
        let first = try #require(await scene.service.evaluations.next())
        let second = try #require(await scene.service.evaluations.next())
        #expect(first.arguments.options["token"] != second.arguments.options["token"])
        tasks[0].cancel()
        _ = await tasks[0].result
        let canceled = try #require(await scene.service.choices.next())
        let tokens = [first, second].map { call -> String in
            guard case .string(let token)? = call.arguments.options["token"] else { return "" }
            #expect(token.utf8.count <= 64)
            return "Cancel \(token)"
        }
        #expect(tokens.contains(canceled))
        let other = canceled == tokens[0] ? second : first
        other.answer(EvaluatePolicy.Reply(result: [:]))
        _ = try await tasks[1].value
        #expect(await scene.service.choices.all.count == 1)
    }

    @Test func `replies once, whoever is first`() async throws {
        let scene = try await FakeScene()
        for round in 0..<200 {
            let context = scene.context()
            let task = Task { try await context.evaluatePolicy(biometrics, localizedReason: "x") }
            let call = try #require(await scene.service.evaluations.next())
            // The service, the task's end and the context's end at once. A second reply would trap.
            async let answered: Void = BusQueue.task {
                call.answer(EvaluatePolicy.Reply(result: ["method": .string("biometrics")]))
            }.value
            if round.isMultiple(of: 2) { context.invalidate() } else { task.cancel() }
            await answered
            switch await task.result {
            case .success(let isThere): #expect(isThere)
            case .failure(let error): #expect((error as? LAError)?.code == .appCancel)
            }
        }
    }

    @Test func `is a success whatever else the reply says, and nothing else is`() async throws {
        let scene = try await FakeScene()
        let context = scene.context()
        let task = Task { try await context.evaluate(biometrics, localizedReason: "open") }
        let call = try #require(await scene.service.evaluations.next())
        call.answer(
            EvaluatePolicy.Reply(result: [
                "method": .uint32(1), "domain-state": .string("x"), "ticket": .bool(true),
                "authenticated-at": .string("never"), "new": .bytes([]),
            ]))
        let result = try await task.value
        #expect(result.method == .other && result.domainState == nil && result.ticket == nil)
        #expect(result.age < .seconds(60))
    }

    @Test func `by a password does not satisfy the policy of fingers`() async throws {
        let scene = try await FakeScene()
        let context = scene.context()
        let task = Task {
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open")
        }
        let call = try #require(await scene.service.evaluations.next())
        #expect(call.arguments.policy == 2)
        call.answer(EvaluatePolicy.Reply(result: ["method": .string("password")]))
        _ = try await task.value
        #expect(context.evaluatedPolicyDomainState == nil)
        // This one is asked, the other one is not.
        let finger = Task { try await context.evaluatePolicy(biometrics, localizedReason: "open") }
        let second = try #require(await scene.service.evaluations.next())
        #expect(second.arguments.policy == 1)
        second.fail(.authenticationFailed)
        _ = await finger.result
        let again = try await context.evaluatePolicy(
            .deviceOwnerAuthentication, localizedReason: "open")
        #expect(again)
        #expect(await scene.service.evaluations.all.count == 2)
    }

    @Test func `is not a success when the service leaves`() async throws {
        let scene = try await FakeScene()
        let context = scene.context()
        let task = Task { try await context.evaluatePolicy(biometrics, localizedReason: "open") }
        _ = await scene.service.evaluations.next()
        await scene.service.close()
        let ending = await error { try await task.value }
        #expect(ending?.code == .systemCancel)
    }

    @Test func `to ask says no to what it does not understand`() async throws {
        let scene = try await FakeScene()
        let context = scene.context()
        for (code, meant) in [
            (Int32(-7), LAError.Code.biometryNotEnrolled), (-9_999, .biometryNotAvailable),
            (0, .biometryNotAvailable), (5, .biometryNotAvailable),
        ] {
            await scene.service.answer(
                CanEvaluatePolicy.Reply(canEvaluate: false, code: code, message: "why"))
            let error = try await blocking { () -> LAError? in
                var error: NSError?
                #expect(!(unsafe context.canEvaluatePolicy(biometrics, error: &error)))
                return error as? LAError
            }
            #expect(error?.code == meant)
            #expect(error?.userInfo["NSDebugDescription"] as? String == "why")
        }
        // A yes leaves no error of before.
        await scene.service.answer(
            CanEvaluatePolicy.Reply(canEvaluate: true, code: 0, message: ""))
        let stale = try await blocking { () -> NSError? in
            var error: NSError? = NSError(domain: "before", code: 1)
            #expect(unsafe context.canEvaluatePolicy(biometrics, error: &error))
            return error
        }
        #expect(stale == nil)
        #expect(context.biometryType == .none, "the service does not say what it has")
    }

    @Test func `to redeem needs to know whose success it was`() async throws {
        let scene = try await FakeScene()
        func claims(_ claims: [String: BusValue]) async -> LAError? {
            await scene.service.answer(claims)
            return await error {
                try await LAContext.redeem(Data(), challenge: Data(), link: scene.link)
            }
        }
        #expect(await claims([:])?.code == .biometryNotAvailable)
        var whole: [String: BusValue] = [
            "uid": .uint32(5), "user": .string("eve"), "policy": .uint32(1),
            "authenticated-at": .uint64(1),
        ]
        #expect(await claims(whole) == nil)
        whole["policy"] = .uint32(77)
        #expect(await claims(whole)?.code == .biometryNotAvailable)
    }

    @Test func `hears the service alone`() async throws {
        let scene = try await FakeScene()
        let events = Locked<[LAEvaluationEvent]>([])
        let context = scene.context()
        let task = Task {
            try await context.evaluate(biometrics, localizedReason: "open") { event in
                events.withLock { $0.append(event) }
            }
        }
        let call = try #require(await scene.service.evaluations.next())
        guard case .string(let token)? = call.arguments.options["token"] else { return }
        func retry(_ token: String) -> RetrySignal.Arguments {
            RetrySignal.Arguments(token: token, cause: "sneeze", attemptsLeft: 2, message: "")
        }
        // A stranger, who knows the token, and the service about another evaluation.
        let stranger = try await TestClient(scene.bus)
        await stranger.connection.send(
            RetrySignal.self, retry(token), from: Service.path, to: call.sender)
        // The stranger's word has arrived when the bus has answered it.
        await stranger.service.findOwner()
        await scene.service.send(RetrySignal.self, retry("another"), to: call.sender)
        await scene.service.send(
            ProgressSignal.self, ProgressSignal.Arguments(token: token, state: "dancing"),
            to: call.sender)
        await scene.service.send(RetrySignal.self, retry(token), to: call.sender)
        call.answer(EvaluatePolicy.Reply(result: [:]))
        _ = try await task.value
        #expect(events.withLock(\.self) == [.retry(.general, attemptsLeft: 2)])
    }
}

extension FakeService {
    fileprivate func answer(_ availability: CanEvaluatePolicy.Reply) {
        self.availability = availability
    }

    fileprivate func answer(_ claims: [String: BusValue]) { self.claims = claims }
}
