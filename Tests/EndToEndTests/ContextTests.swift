// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication
import TestKit
import Testing

private let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

/// `LAContext` and the built daemon: Apple's rules, one by one.
@Suite(.timeLimit(.minutes(1))) struct `A context` {
    @Test func `says what can be, and what the machine has`() async throws {
        let scene = try await ContextScene(isEnrolled: false)
        let context = scene.context()
        #expect(context.biometryType == .none)
        #expect(try await context.can() == .biometryNotEnrolled)
        #expect(context.biometryType == .touchID, "set whatever the answer was")
        #expect(context.evaluatedPolicyDomainState == nil)
        try await enrol(on: scene.service, by: scene.watcher)
        #expect(try await context.can() == nil)
        #expect(context.evaluatedPolicyDomainState?.count == 32)
    }

    @Test func `says yes to the right finger`() async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        let reply = context.reply()
        try await scene.touch()
        #expect(await reply.value == Replied(success: true, code: nil))
        #expect(context.evaluatedPolicyDomainState?.count == 32)
        let another = scene.context()
        async let answer = another.evaluatePolicy(biometrics, localizedReason: "open the safe")
        try await scene.touch()
        let isThere = try await answer
        #expect(isThere)
    }

    @Test func `says no to three wrong fingers, and that it is locked after five`() async throws {
        let scene = try await ContextScene()
        let first = scene.context().reply()
        try await scene.miss(3)
        #expect(await first.value == Replied(success: false, code: .authenticationFailed))
        let second = scene.context().reply()
        try await scene.miss(2)
        #expect(await second.value == Replied(success: false, code: .biometryLockout))
        let context = scene.context()
        #expect(try await context.can() == .biometryLockout)
        #expect(await context.reply().value.code == .biometryLockout)
        #expect(context.biometryType == .touchID)
    }
}
