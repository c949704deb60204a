// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// One of the programs in examples/ that are not in Swift.
enum Example: String, CaseIterable, Sendable {
    case busctl = "shell/busctl.sh"
    case gdbus = "shell/gdbus.sh"
    case glib = "python/glib.py"
    case dbusPython = "python/dbus_python.py"
    case sdBus = "c/sd_bus"

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../examples").standardized

    /// Whether all that they need is here.
    static let arePossible = [
        "/usr/bin/busctl", "/usr/bin/gdbus", "/usr/bin/jq", "/usr/bin/make",
        "/usr/include/systemd/sd-bus.h", "/usr/lib/python3/dist-packages/dbus",
        "/usr/lib/python3/dist-packages/gi",
    ].allSatisfy(FileManager.default.fileExists)

    /// The example in C, compiled once for all tests.
    private static let compiled = Task {
        let scratch = try Scratch()
        let program = scratch.file("sd_bus")
        let made = try await run(
            "/usr/bin/make",
            ["-s", "-C", folder.appending(path: "c").path, "OUTPUT=\(program)"])
        #expect(made.status == 0 && made.errors.isEmpty, "\(made.errors)")
        return (scratch: scratch, program: program)
    }

    func start(on bus: PrivateBus, _ arguments: String...) async throws -> TutorialRun {
        try await start(on: bus, arguments)
    }

    func start(on bus: PrivateBus, _ arguments: [String]) async throws -> TutorialRun {
        let program =
            self == .sdBus
            ? try await Self.compiled.value.program
            : Self.folder.appending(path: rawValue).path
        let tool = productsDirectory.appending(path: "localauthctl").path
        return try TutorialRun(
            program, arguments,
            environment: bus.environment.merging([
                "LOCALAUTHCTL": tool, "PYTHONDONTWRITEBYTECODE": "1",
            ]) { $1 })
    }

    var isShell: Bool { self == .busctl || self == .gdbus }

    /// How the line of an error begins: with its name, which busctl does not say.
    func line(_ error: ServiceError, kind: String = "error") -> String {
        self == .busctl ? "\(kind): " : "\(kind): \(error.name.rawValue) "
    }
}

extension [String] {
    /// Whether the last line begins so.
    fileprivate func ends(with line: String) -> Bool { last?.hasPrefix(line) == true }
}

@Suite(
    .timeLimit(.minutes(2)),
    .enabled(
        if: Example.arePossible,
        "needs busctl, gdbus, jq, make, gcc, libsystemd-dev, python3-dbus and python3-gi")
)
struct `Examples in other languages` {
    @Test(arguments: Example.allCases) func `say whether the user can be authenticated`(
        example: Example
    ) async throws {
        let scene = try await ContextScene()
        let (yes, status) = await (try example.start(on: scene.service.bus, "can")).end()
        #expect(yes == ["yes"] && status == 0)
        let other = try await ContextScene(isEnrolled: false)
        let (no, failure) = await (try example.start(on: other.service.bus, "can")).end()
        #expect(no.count == 1 && no.ends(with: "no: -7 ") && failure == 1, "\(no)")
        let (error, last) = await (try example.start(on: other.service.bus, "evaluate")).end()
        #expect(error.ends(with: example.line(.biometryNotEnrolled)) && last == 1, "\(error)")
    }

    @Test(arguments: Example.allCases) func `authenticate, and tell of retries`(
        example: Example
    ) async throws {
        let scene = try await ContextScene()
        let run = try await example.start(on: scene.service.bus, "evaluate")
        try await scene.touch("other")
        #expect(await run.nextLine() == "retry: no-match, attempts left: 2")
        try await scene.touch()
        let (output, status) = await run.end()
        #expect(output == ["success: biometrics"] && status == 0, "\(run.complaints)")
    }

    @Test(arguments: Example.allCases) func `fail with wrong fingers, and are locked out`(
        example: Example
    ) async throws {
        let scene = try await ContextScene()
        let first = try await example.start(on: scene.service.bus, "evaluate")
        try await scene.miss(3)
        let (failed, status) = await first.end()
        #expect(
            failed.dropLast() == [
                "retry: no-match, attempts left: 2", "retry: no-match, attempts left: 1",
            ])
        #expect(failed.ends(with: example.line(.authenticationFailed)) && status == 1)
        let second = try await example.start(on: scene.service.bus, "evaluate")
        try await scene.miss(2)
        let (locking, last) = await second.end()
        #expect(locking.ends(with: example.line(.biometryLockout)) && last == 1, "\(locking)")
        let (can, no) = await (try example.start(on: scene.service.bus, "can")).end()
        #expect(can.ends(with: "no: -8 ") && no == 1, "\(can)")
    }

    @Test(arguments: Example.allCases) func `cancel with Ctrl-C`(example: Example) async throws {
        let scene = try await ContextScene()
        let run = try await example.start(on: scene.service.bus, "evaluate")
        await scene.watcher.fingerIsNeeded()
        run.interrupt()
        let (output, status) = await run.end()
        #expect(
            output.ends(with: example.line(.appCancel)) && status == 1,
            "\(output) \(run.complaints)")
        try await scene.service.storage.waitUntilClosed()
    }

    @Test(arguments: Example.allCases) func `redeem a ticket, once`(
        example: Example
    ) async throws {
        let scene = try await ContextScene()
        let run = try await example.start(on: scene.service.bus, "ticket", "open the safe")
        try await scene.touch()
        let (output, status) = await run.end()
        #expect(
            output.dropLast() == [
                "success: biometrics", "ticket: \(NSUserName()) by biometrics, policy 1",
            ])
        #expect(output.ends(with: example.line(.ticketInvalid, kind: "refused")), "\(output)")
        #expect(status == 0, "\(run.complaints)")
    }

    @Test(arguments: Example.allCases) func `say that the service is not there`(
        example: Example
    ) async throws {
        let bus = try await PrivateBus()
        for command in ["can", "evaluate", "ticket"] {
            let (output, status) = await (try example.start(on: bus, command)).end()
            // In a shell script it is localauthctl that says so.
            let isNamed = command == "can" ? example != .busctl : !example.isShell
            let line = "error: " + (isNamed ? "org.freedesktop.DBus.Error.ServiceUnknown " : "")
            #expect(output.count == 1 && output.ends(with: line) && status == 1, "\(output)")
        }
    }

    @Test(arguments: Example.allCases) func `hand a reason on as it is`(
        example: Example
    ) async throws {
        let scene = try await ContextScene()
        let agent = await TestAgent(scene.watcher)
        try await agent.register()
        let reasons = ["--it's \"odd\" \\ $(x) {'a': <1>}", "uint32 5", "-h", "true", "Ärger – 中"]
        for (number, reason) in reasons.enumerated() {
            let run = try await example.start(on: scene.service.bus, "evaluate", reason)
            let prompt = await agent.prompt(number + 1)
            #expect(await agent.shown(prompt)[.reason] == .string(reason))
            try await agent.cancel(prompt)
            let (output, status) = await run.end()
            #expect(output.ends(with: example.line(.userCancel)) && status == 1, "\(output)")
        }
        let (output, status) = await (try example.start(on: scene.service.bus, "evaluate", ""))
            .end()
        #expect(output.ends(with: "error: ") && status == 1, "\(output)")
    }

    @Test(arguments: Example.allCases) func `take no other text for a claim`(
        example: Example
    ) async throws {
        let bus = try await PrivateBus()
        // What a program is called is that program's choice.
        let caller = BusValue.string("', 'user': <'root'>, 'x': <\"y")
        let service = try await answering(
            on: bus, ["method": .string("biometrics"), "ticket": .bytes([1, 2, 0])],
            claims: [
                "user": .string("it's \"me\" > \\"), "method": .string("password"),
                "policy": .uint32(2), "caller": caller, "caller-program": caller, "zzz": caller,
            ])
        let (output, status) = await (try example.start(on: bus, "ticket")).end()
        // This one can be redeemed twice, which the examples call a failure.
        #expect(
            output == [
                "success: biometrics", "ticket: it's \"me\" > \\ by password, policy 2",
            ])
        #expect(status == 1)
        await service.close()
    }

    @Test(arguments: Example.allCases) func `notice a reply that is none`(
        example: Example
    ) async throws {
        let ticket = BusValue.bytes([UInt8](repeating: 7, count: 32))
        for reply: [String: BusValue] in [
            [:], ["method": .uint32(1), "ticket": ticket], ["method": .string("biometrics")],
            ["method": .string("biometrics"), "ticket": .string("abc")],
        ] {
            let bus = try await PrivateBus()
            let service = try await answering(on: bus, reply, claims: [:])
            let run = try await example.start(on: bus, "ticket")
            let (output, status) = await run.end()
            #expect(status == 1 && !output.contains { $0.hasPrefix("ticket") }, "\(output)")
            #expect(!run.complaints.contains("Traceback"))
            await service.close()
        }
    }

    /// A service that answers every evaluation so, and every ticket.
    @BusQueue private func answering(
        on bus: PrivateBus, _ reply: [String: BusValue], claims: [String: BusValue]
    ) async throws -> FakeService {
        let service = try await FakeService(bus)
        service.claims = claims
        BusQueue.task {
            await service.evaluations.next()?.answer(EvaluatePolicy.Reply(result: reply))
        }
        return service
    }

    @Test(arguments: Example.allCases) func `say how they are used`(
        example: Example
    ) async throws {
        let bus = try await PrivateBus()
        for arguments in [[], ["help"], ["can", "more"], ["evaluate", "reason", "more"]] {
            let run = try await example.start(on: bus, arguments)
            let (output, status) = await run.end()
            #expect(output.isEmpty && status == 2)
            #expect(run.complaints.contains("usage: "))
        }
    }
}
