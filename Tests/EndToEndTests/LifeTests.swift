// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The daemon's life` {
    private static let program = productsDirectory.appending(path: "localauthd").path

    @Test(arguments: [true, false])
    func `ends with SIGTERM, and everybody is answered before`(driverListens: Bool) async throws {
        let (service, client) = try await enrolled()
        let running = evaluating(client, "running")
        await client.fingerIsNeeded()
        let waiting = evaluating(client, "waiting")
        await client.next { $0 == .progress(token: "waiting", state: "queued") }
        if !driverListens { try service.storage.send("SET_CANCELLATION_ENABLED 0") }
        let start = ContinuousClock.now
        service.daemon.signal(SIGTERM)
        #expect(await error(of: running) == .systemCancel)
        #expect(await error(of: waiting) == .systemCancel)
        #expect(await service.daemon.wait() == 0)
        let time = ContinuousClock.now - start
        print("ended in \(time), driver listens: \(driverListens)")
        #expect(time < .seconds(3))
    }

    @Test func `is not shared with a second instance`() async throws {
        let service = try await TestService(.storage)
        let second = try await run(
            Self.program,
            [
                "--config", service.scratch.file("localauthd.conf"), "--state-dir",
                service.scratch.file("state2"), "--print-dir", service.scratch.file("prints2"),
            ], environment: service.bus.environment)
        #expect(second.status == 0)
        #expect(second.errors.contains("another instance has the name"))
        let client = try await TestClient(service.bus)
        #expect(try await client.can().code == -7)
        #expect(service.daemon.isRunning)
    }

    @Test func `ends when nobody needs it`() async throws {
        let service = try await TestService(arguments: ["--idle-exit", "2"])
        let watcher = try await TestClient(service.bus)
        _ = try await watcher.call(Watch.self, NoValues())
        // That it does not leave can be seen only after the time after which it would.
        try await Task.sleep(for: .seconds(4.5))
        #expect(service.daemon.isRunning, "somebody watches")
        _ = try await watcher.call(Unwatch.self, NoValues())
        #expect(await service.daemon.wait() == 0)
        #expect(service.log.contains("idle"))
    }

    @Test func `goes on while somebody is evaluated`() async throws {
        let service = try await TestService(.storage, arguments: ["--idle-exit", "2"])
        let client = try await TestClient(service.bus)
        try await enrol(on: service, by: client)
        let evaluation = evaluating(client, options: ["timeout": .uint32(3)])
        #expect(await error(of: evaluation) == .timeout)
        #expect(service.daemon.isRunning)
    }

    @Test func `goes on while a question has no answer, however long that takes`() async throws {
        let bus = try await PrivateBus()
        let polkit = try await FakePolkit(bus) { _ in .later }
        let service = try await TestService(
            .storage, configuration: "[Authorization]\nSessions=none\n", bus: bus,
            arguments: ["--idle-exit", "2"])
        let client = try await TestClient(bus)
        let question = Task { try await client.can() }
        await polkit.questions.next()
        // That it does not leave can be seen only after the time after which it would; and before
        // it has waited for polkit for five seconds.
        try await Task.sleep(for: .seconds(4.3))
        #expect(service.daemon.isRunning)
        await polkit.answerOpenQuestions(true)
        #expect(try await question.value.code == -7)
        #expect(await service.daemon.wait() == 0)
        await polkit.close()
    }

    @Test func `begins with a right command line and configuration`() async throws {
        let help = try await run(Self.program, ["--help"])
        #expect(help.status == 0 && help.output.hasPrefix("Usage: localauthd"))
        let version = try await run(Self.program, ["--version"])
        #expect(version.status == 0 && version.output.hasPrefix("localauthd "))
        for arguments in [["--colour"], ["extra"], ["--config"], ["--idle-exit", "soon"]] {
            let result = try await run(Self.program, arguments)
            #expect(result.status == 2, "\(arguments)")
            #expect(result.errors.hasPrefix("localauthd: "))
        }
        let scratch = try Scratch()
        let texts = [
            "[Evaluation]\nDefaultTimeout=0\n", "[Lockout]\nRecovery=never\n", "[Elsewhere]\nA=1\n",
            "[Authorization]\nAuthorty=local\n", "no group\n", "\u{0}",
        ]
        for text in texts {
            let file = try scratch.write("conf", text)
            #expect(try await run(Self.program, ["--config", file]).status == 78, "\(text)")
        }
        #expect(try await run(Self.program, ["--config", scratch.file("none")]).status == 78)
        let nowhere = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(scratch.file("bus"))"]
        let file = try scratch.write("conf", TestService.localConfiguration)
        let lost = try await run(Self.program, ["--config", file], environment: nowhere)
        #expect(lost.status == 1)
    }

    @Test func `ends with the bus`() async throws {
        let (service, client) = try await enrolled()
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        kill(service.bus.processID, SIGKILL)
        #expect(await service.daemon.wait() == 1)
        #expect(await errorName(of: evaluation) == .disconnected)
    }
}
