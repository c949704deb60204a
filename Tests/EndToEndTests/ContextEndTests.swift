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

/// How a context's evaluations end when the application, and not the user, ends them.
@Suite(.timeLimit(.minutes(1))) struct `A context that is not wanted any more` {
    /// The reader is not held by what has ended, and the next evaluation gets it.
    private func expectFreeReader(_ scene: ContextScene) async throws {
        try await scene.service.storage.waitUntilClosed()
        let next = scene.context().reply()
        try await scene.touch()
        #expect(await next.value.success)
    }

    @Test func `ends its evaluation when it is invalidated, and begins none`() async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        let reply = context.reply()
        await scene.watcher.fingerIsNeeded()
        context.invalidate()
        #expect(await reply.value == Replied(success: false, code: .appCancel))
        context.invalidate()
        #expect(await context.reply().value == Replied(success: false, code: .invalidContext))
        #expect(try await context.can() == .invalidContext)
        #expect(!context.setCredential(Data([1]), type: .applicationPassword))
        try await expectFreeReader(scene)
    }

    @Test func `ends its evaluation when the last reference goes`() async throws {
        let scene = try await ContextScene()
        var context: LAContext? = scene.context()
        let replies = Happenings<LAError?>()
        context?.evaluatePolicy(biometrics, localizedReason: "open the safe") { _, error in
            BusQueue.post { replies.note(error as? LAError) }
        }
        await scene.watcher.fingerIsNeeded()
        weak let weakContext = context
        context = nil
        #expect(weakContext == nil, "the evaluation keeps the context")
        let error = try #require(await replies.next() ?? nil)
        #expect(error.code == .appCancel)
        #expect("\(error.userInfo)".contains("let go"), "says what the developer did")
        try await expectFreeReader(scene)
    }

    @Test func `ends an evaluation whose task is cancelled, and goes on`() async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        let task = Task {
            try await context.evaluatePolicy(biometrics, localizedReason: "open the safe")
        }
        await scene.watcher.fingerIsNeeded()
        task.cancel()
        #expect(await task.code == .appCancel)
        try await scene.service.storage.waitUntilClosed()
        let reply = context.reply()
        try await scene.touch()
        #expect(await reply.value.success)
    }

    @Test func `asks nobody for a task that was cancelled before`() async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await context.evaluatePolicy(biometrics, localizedReason: "open the safe")
        }
        task.cancel()
        #expect(await task.code == .appCancel)
        // Whatever it had sent would have come before this.
        _ = try await context.can()
        #expect(scene.service.logCount("evaluation ended") == 0)
        try await expectFreeReader(scene)
    }

    @Test func `is answered by its own thread, and needs no other`() async throws {
        let scene = try await ContextScene()
        // As many as Swift has threads, and more: all of them wait inside at once.
        let contexts = (0..<64).map { _ in scene.context() }
        let answers = await withTaskGroup(of: Bool.self) { group in
            for context in contexts {
                group.addTask { unsafe context.canEvaluatePolicy(biometrics, error: nil) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: true, count: 64))
    }

    @Test func `may be asked from within a reply`() async throws {
        let scene = try await ContextScene()
        let context = scene.context()
        let answers = Happenings<Bool>()
        context.evaluatePolicy(biometrics, localizedReason: "open the safe") { _, _ in
            let can = unsafe context.canEvaluatePolicy(biometrics, error: nil)
            BusQueue.post { answers.note(can) }
        }
        try await scene.touch()
        #expect(await answers.next() == true)
    }
}

extension Task where Failure == any Error {
    /// The code of the error that it ends with; `nil` when it succeeds.
    var code: LAError.Code? {
        get async {
            do {
                _ = try await value
                return nil
            } catch {
                return (error as? LAError)?.code
            }
        }
    }
}
