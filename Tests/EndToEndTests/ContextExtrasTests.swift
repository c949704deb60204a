// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication
import SystemSupport
import TestKit
import Testing

private let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

/// What a context can on Linux only.
@Suite(.timeLimit(.minutes(1))) struct `A context on Linux` {
    @Test func `tells what happens, in order, before it replies`() async throws {
        let scene = try await ContextScene()
        let events = Locked<[LAEvaluationEvent]>([])
        let context = scene.context()
        let task = Task {
            try await context.evaluate(biometrics, localizedReason: "open the safe") { event in
                events.withLock { $0.append(event) }
            }
        }
        try await scene.touch("other")
        await scene.watcher.nextRetry()
        await scene.watcher.fingerIsNeeded()
        try scene.service.storage.send("RETRY 1")
        await scene.watcher.nextRetry()
        try await scene.touch()
        let result = try await task.value
        #expect(result.method == .biometrics && result.policy == biometrics)
        #expect(result.ticket == nil && result.domainState?.count == 32)
        #expect(result.age >= .zero && result.age < .seconds(60))
        let told = events.withLock(\.self)
        #expect(told.first == .progress(.waitingForFinger))
        #expect(told.last == .progress(.finished))
        let retries = told.filter { if case .retry = $0 { true } else { false } }
        #expect(
            retries == [.retry(.noMatch, attemptsLeft: 2), .retry(.tooShort, attemptsLeft: 2)])
    }

    @Test func `tells of a lockout`() async throws {
        let scene = try await ContextScene()
        try await miss(4, on: scene.service.storage, by: scene.watcher)
        await scene.watcher.forgetHeard()
        let events = Locked<[LAEvaluationEvent]>([])
        let context = scene.context()
        let task = Task {
            try await context.evaluate(biometrics, localizedReason: "open the safe") { event in
                events.withLock { $0.append(event) }
            }
        }
        try await scene.touch("other")
        #expect(await task.code == .biometryLockout)
        #expect(
            events.withLock(\.self).contains(
                .lockout(isLockedOut: true, attemptsLeft: 0, secondsLeft: nil)))
    }

    @Test func `gives a ticket, which another process redeems once`() async throws {
        let scene = try await ContextScene()
        let challenge = Data(randomBytes(32))
        let context = scene.context()
        let task = Task {
            try await context.evaluate(
                biometrics, localizedReason: "open the safe",
                options: LAEvaluationOptions(challenge: challenge))
        }
        try await scene.touch()
        let ticket = try #require(try await task.value.ticket)
        #expect(ticket.count == 32)
        let helper = ServiceLink(address: scene.service.bus.address)
        let claims = try await LAContext.redeem(ticket, challenge: challenge, link: helper)
        #expect(claims.uid == getuid() && claims.user == NSUserName())
        #expect(claims.policy == biometrics && claims.method == .biometrics)
        #expect(claims.callerEvidence == "unverified" && !claims.callerProgram.isEmpty)
        let second = await error {
            try await LAContext.redeem(ticket, challenge: challenge, link: helper)
        }
        #expect(second?.code == .authenticationFailed)
        #expect(second?.serviceErrorName == ServiceError.ticketInvalid.name.rawValue)
    }

    @Test func `refuses other fingers than those of before`() async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        let state = try #require(try await blocking { context.domainState.biometry.stateHash })
        let options = LAEvaluationOptions(requiredDomainState: state)
        let task = Task {
            try await context.evaluate(biometrics, localizedReason: "open", options: options)
        }
        try await scene.touch()
        _ = try await task.value
        await scene.watcher.forgetHeard()
        try await enrol("left-thumb", as: "another", on: scene.service, by: scene.watcher)
        let changed = await error {
            try await context.evaluate(biometrics, localizedReason: "open", options: options)
        }
        #expect(changed?.code == .authenticationFailed)
        #expect(changed?.serviceErrorName == ServiceError.domainStateChanged.name.rawValue)
        #expect(changed?.localizedDescription == "The enrolled fingers have changed.")
    }

    @Test func `ends when its time is over`() async throws {
        let scene = try await ContextScene()
        let late = await error {
            try await scene.context().evaluate(
                biometrics, localizedReason: "open", options: LAEvaluationOptions(timeout: 0.2))
        }
        #expect(late?.code == .systemCancel)
        #expect(late?.serviceErrorName == ServiceError.timeout.name.rawValue)
    }

    /// What takes longer than D-Bus libraries wait by themselves, which is 25 seconds.
    @Test func `waits for a user who takes his time`() async throws {
        let scene = try await ContextScene()
        let reply = scene.context().reply()
        await scene.watcher.fingerIsNeeded()
        try await Task.sleep(for: .seconds(27))
        try scene.service.storage.send("SCAN mine")
        #expect(await reply.value.success)
    }
}
