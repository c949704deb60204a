// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication
import TestKit
import Testing

private let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

/// When a context says yes or no without asking anybody.
@Suite(.timeLimit(.minutes(1))) struct `A context that need not ask` {
    @Test func `says yes again where it has said yes`() async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        let first = context.reply()
        try await scene.touch()
        #expect(await first.value.success)
        // The reader is closed, and stays so.
        try await scene.service.storage.waitUntilClosed()
        #expect(await context.reply().value.success)
        #expect(await context.reply(.deviceOwnerAuthentication).value.success)
        context.interactionNotAllowed = true
        #expect(await context.reply().value.success)
        #expect(scene.service.logCount("evaluation ended") == 1)
        #expect(!scene.service.storage.isOpen)
        // Nobody else is let in by it, and nobody after its end.
        let other = scene.context()
        other.interactionNotAllowed = true
        #expect(await other.reply().value.code == .notInteractive)
        context.invalidate()
        #expect(await context.reply().value.code == .invalidContext)
    }

    @Test func `does not say yes again where it has said no`() async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        let first = context.reply()
        try await scene.miss(3)
        #expect(await first.value.code == .authenticationFailed)
        context.interactionNotAllowed = true
        #expect(await context.reply().value.code == .notInteractive)
    }

    @Test func `takes an earlier finger of this program, if it may`() async throws {
        let scene = try await ContextScene()
        let first = scene.context()
        first.touchIDAuthenticationAllowableReuseDuration = 60
        let reply = first.reply()
        try await scene.touch()
        #expect(await reply.value.success)
        let second = scene.context()
        second.touchIDAuthenticationAllowableReuseDuration = 60
        second.interactionNotAllowed = true
        let result = try await second.evaluate(biometrics, localizedReason: "open the safe")
        #expect(result.method == .reused)
        // Without the property it has to ask.
        let third = scene.context()
        third.interactionNotAllowed = true
        #expect(await third.reply().value.code == .notInteractive)
        // Another program is another connection.
        let stranger = LAContext(link: ServiceLink(address: scene.service.bus.address))
        stranger.touchIDAuthenticationAllowableReuseDuration = 60
        stranger.interactionNotAllowed = true
        #expect(await stranger.reply().value.code == .notInteractive)
    }

    @Test(arguments: ["", " ", "\n\t"]) func `needs a reason`(reason: String) async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        #expect(await context.reply(reason: reason).value.code == .notInteractive)
        await #expect(throws: LAError.self) {
            try await context.evaluatePolicy(biometrics, localizedReason: reason)
        }
        #expect(!scene.service.storage.wasOpened || !scene.service.storage.isOpen)
    }

    @Test func `shows what the service refuses`() async throws {
        let scene = try await ContextScene()
        let error = try #require(
            await error {
                try await scene.context().evaluate(biometrics, localizedReason: "\u{200b}")
            })
        #expect(error.code == .notInteractive)
        #expect(error.serviceErrorName == "org.freedesktop.DBus.Error.InvalidArgs")
        #expect(error.userInfo["NSDebugDescription"] as? String == "the reason is empty")
    }

    @Test(arguments: [3, 4, 5]) func `knows no companions`(number: Int) async throws {
        let scene = try await ContextScene()
        let policy = try #require(LAPolicy(rawValue: number))
        let context = scene.context()
        #expect(try await context.can(policy) == .companionNotAvailable)
        #expect(context.biometryType == .touchID)
        #expect(context.evaluatedPolicyDomainState == nil)
        #expect(await context.reply(policy).value.code == .companionNotAvailable)
    }
}

/// The error that something ends with.
func error<T>(_ work: () async throws -> T) async -> LAError? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error as? LAError
    }
}
