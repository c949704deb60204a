// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// One of the programs of Tests/Support/tutorial-…, which are written as for Apple's systems, and what
/// it says in each case.
struct Tutorial: Sendable, CustomTestStringConvertible {
    let name: String
    let notEnrolled: String
    let lockedOut: String
    /// Said after three wrong fingers.
    let failed: String
    /// Said at the fifth wrong finger in a row.
    let locking: String
    let appCanceled: String
    let userCanceled: String
    let fallback: String
    let notInstalled: String

    var testDescription: String { name }

    static let all = [
        Tutorial(
            name: "closure", notEnrolled: "unavailable: No fingers are enrolled.",
            lockedOut: "unavailable: Biometry is locked out.",
            failed: "failed: Application retry limit exceeded.",
            locking: "failed: Biometry is locked out.",
            appCanceled: "failed: Canceled by application.",
            userCanceled: "failed: Canceled by user.",
            fallback: "failed: Fallback authentication mechanism selected.",
            notInstalled: "unavailable: The LocalAuth service is not installed."),
        Tutorial(
            name: "codes", notEnrolled: "unavailable: no finger is enrolled",
            lockedOut: "unavailable: locked out", failed: "failed: not the user",
            locking: "failed: locked out", appCanceled: "failed: canceled by the application",
            userCanceled: "failed: canceled by the user",
            fallback: "failed: asking for the notes' password",
            notInstalled: "unavailable: The LocalAuth service is not installed."),
        Tutorial(
            name: "nserror", notEnrolled: "failed: notEnrolled", lockedOut: "failed: locked",
            failed: "failed: failed", locking: "failed: locked", appCanceled: "failed: canceled",
            userCanceled: "failed: canceled", fallback: "failed: fallback",
            notInstalled: "failed: notAvailable"),
        Tutorial(
            name: "concurrency", notEnrolled: "unavailable: No fingers are enrolled.",
            lockedOut: "unavailable: Biometry is locked out.", failed: "failed: -1",
            locking: "failed: locked out", appCanceled: "failed: canceled",
            userCanceled: "failed: canceled", fallback: "failed: fallback",
            notInstalled: "unavailable: The LocalAuth service is not installed."),
    ]

    /// Starts the program.
    func start(on bus: PrivateBus, _ arguments: String...) throws -> TutorialRun {
        try TutorialRun("tutorial-\(name)", arguments, environment: bus.environment)
    }
}

/// A program that has been started.
final class TutorialRun {
    private let child: Child
    private let input = Pipe()
    private let scratch: Scratch
    private var lines: AsyncStream<String>.Iterator

    /// - Parameters:
    ///   - program: its name, if it was built together with the tests, or else its path.
    ///   - arguments: its arguments.
    ///   - environment: its variables.
    /// - Throws: what kept it from starting.
    init(_ program: String, _ arguments: [String], environment: [String: String]) throws {
        scratch = try Scratch()
        let output = Pipe()
        child = try Child(
            program.hasPrefix("/") ? program : productsDirectory.appending(path: program).path,
            arguments,
            // The texts are compared in English.
            environment: environment.merging(["LC_ALL": "C"]) { $1 }, log: scratch.file("log"),
            output: output, input: input)
        lines = TestKit.lines(from: output.fileHandleForReading).makeAsyncIterator()
    }

    /// The next line that it writes.
    func nextLine() async -> String? { await lines.next(isolation: #isolation) }

    func invalidate() throws {
        try input.fileHandleForWriting.write(contentsOf: Data("invalidate\n".utf8))
    }

    /// What Ctrl-C does on a terminal.
    func interrupt() { child.signal(SIGINT) }

    /// What it has written to standard error.
    var complaints: String { child.logText }

    /// All that it still writes, and how it ends.
    func end() async -> (output: [String], status: Int32) {
        var output: [String] = []
        while let line = await lines.next(isolation: #isolation) { output.append(line) }
        return (output, await child.wait())
    }
}

/// Code as it is written for Apple's systems, compiled and run here.
@Suite(.timeLimit(.minutes(1))) struct `Code for Apple` {
    @Test(arguments: Tutorial.all) func `unlocks with a finger`(tutorial: Tutorial) async throws {
        let scene = try await ContextScene()
        let run = try tutorial.start(on: scene.service.bus)
        if tutorial.name == "nserror" { #expect(await run.nextLine() == "kind: Touch ID") }
        #expect(await run.nextLine() == "available")
        try await scene.touch("other")
        await scene.watcher.nextRetry()
        try await scene.touch()
        let (output, status) = await run.end()
        #expect(output == ["success"] && status == 0)
    }

    @Test(arguments: Tutorial.all) func `says that nothing is enrolled`(
        tutorial: Tutorial
    ) async throws {
        let scene = try await ContextScene(isEnrolled: false)
        let (output, status) = await (try tutorial.start(on: scene.service.bus)).end()
        #expect(output.last == tutorial.notEnrolled && status != 0)
    }

    @Test(arguments: Tutorial.all) func `fails with wrong fingers, and is locked out`(
        tutorial: Tutorial
    ) async throws {
        let scene = try await ContextScene()
        let first = try tutorial.start(on: scene.service.bus)
        try await scene.miss(3)
        #expect(await first.end().output.last == tutorial.failed)
        let second = try tutorial.start(on: scene.service.bus)
        try await scene.miss(2)
        #expect(await second.end().output.last == tutorial.locking)
        let (output, status) = await (try tutorial.start(on: scene.service.bus)).end()
        #expect(output.last == tutorial.lockedOut && status != 0)
    }

    @Test(arguments: Tutorial.all) func `ends its own evaluation`(tutorial: Tutorial) async throws {
        let scene = try await ContextScene()
        let run = try tutorial.start(on: scene.service.bus)
        await scene.watcher.fingerIsNeeded()
        try run.invalidate()
        let (output, status) = await run.end()
        #expect(output.last == tutorial.appCanceled && status == 1)
        try await scene.service.storage.waitUntilClosed()
    }

    @Test(arguments: Tutorial.all) func `hears that the user cancels, or wants another way`(
        tutorial: Tutorial
    ) async throws {
        let scene = try await ContextScene()
        let agent = await TestAgent(scene.watcher)
        try await agent.register()
        let canceled = try tutorial.start(on: scene.service.bus)
        try await agent.cancel(agent.prompt())
        #expect(await canceled.end().output.last == tutorial.userCanceled)
        let fallback = try tutorial.start(on: scene.service.bus)
        try await agent.fallBack(agent.prompt(2))
        #expect(await fallback.end().output.last == tutorial.fallback)
    }

    @Test(arguments: Tutorial.all) func `says what to install`(tutorial: Tutorial) async throws {
        let bus = try await PrivateBus()
        let (output, status) = await (try tutorial.start(on: bus)).end()
        #expect(output.last?.hasPrefix(tutorial.notInstalled) == true && status != 0)
    }

    @Test func `gives its prompt titles and a reason`() async throws {
        let scene = try await ContextScene()
        let agent = await TestAgent(scene.watcher)
        try await agent.register()
        let run = try TutorialRun(
            "tutorial-codes", [], environment: scene.service.bus.environment)
        let prompt = await agent.prompt()
        let shown = await agent.shown(prompt)
        #expect(shown[.reason] == .string("Authentication is needed to access your notes."))
        #expect(shown[.fallbackTitle] == .string("Enter the notes' password"))
        #expect(shown[.cancelTitle] == .string("Not now"))
        #expect(shown[.policy] == .uint32(1))
        try await agent.cancel(prompt)
        _ = await run.end()
    }

    @Test func `replaces the context in its own tests`() async throws {
        let bus = try await PrivateBus()
        let run = try TutorialRun("tutorial-nserror", ["mock"], environment: bus.environment)
        let (output, status) = await run.end()
        #expect(output == ["Face ID", "failure(tutorial_nserror.BiometricError.locked)"])
        #expect(status == 0)
    }
}
