// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// Runs a test on the bus queue, where terminals and services are.
func onBusQueue(_ test: @Sendable @BusQueue () async throws -> Void) async throws {
    startBusQueue()
    try await test()
}

/// A bus, a service that says what the test wants, and localauthctl on a terminal.
@BusQueue final class TerminalScene {
    static let localauthctl = productsDirectory.appending(path: "localauthctl").path

    /// What a prompt that takes both is described with.
    static let both: [String: BusValue] = [
        "purpose": .string("evaluate"), "policy": .uint32(2),
        "reason": .string("open the vault"), "user": .string("alice"),
        "caller": .string("/usr/bin/vault"), "caller-evidence": .string("unverified"),
        "cancel-title": .string(""), "parent-window": .string(""), "timeout": .uint32(20),
        "reader": .string("A reader"), "scan-type": .string("press"), "finger": .bool(true),
        "password": .bool(true), "attempts-left": .uint32(3), "passwords-left": .uint32(3),
    ]

    let bus: PrivateBus
    let service: FakeService

    init(hasAgents: Bool = true) async throws {
        bus = try await PrivateBus()
        service = try await FakeService(bus, hasAgents: hasAgents)
    }

    /// Starts localauthctl on a terminal of its own.
    func start(_ arguments: String..., input: String? = nil) throws -> Pty {
        try Pty(Self.localauthctl, arguments, environment: bus.environment, input: input)
    }

    /// Starts an evaluation with a prompt, up to where a password can be typed.
    func prompt(
        _ details: [String: BusValue] = TerminalScene.both, showing: String = "Password: "
    ) async throws -> Prompted {
        let pty = try start("evaluate", "--policy", "any", "--reason", "open the vault")
        return try await prompted(pty, details, showing: showing)
    }

    func prompted(
        _ pty: Pty, _ details: [String: BusValue] = TerminalScene.both,
        showing: String = "Password: "
    ) async throws -> Prompted {
        let agent = try #require(await service.agents.next())
        let evaluation = try #require(await service.evaluations.next())
        #expect(agent.scope == "self")
        #expect(agent.connection == evaluation.sender)
        try await service.begin("p1", details, on: agent)
        #expect(await pty.shows(showing))
        return Prompted(pty: pty, agent: agent, evaluation: evaluation)
    }

    /// An evaluation whose prompt is shown.
    struct Prompted {
        let pty: Pty
        let agent: FakeService.Agent
        let evaluation: FakeService.Evaluation
    }

    /// Ends prompt and evaluation by a success.
    func succeed(_ prompted: Prompted, method: String = "password") async throws {
        try await service.end("p1", "success", on: prompted.agent)
        prompted.evaluation.answer(
            EvaluatePolicy.Reply(result: ["method": .string(method), "policy": .uint32(2)]))
    }

    /// Ends prompt and evaluation by an error.
    func fail(_ prompted: Prompted, _ error: ServiceError) async throws {
        try await service.end("p1", error.rawValue, on: prompted.agent)
        prompted.evaluation.fail(error)
    }
}

/// What a process has in its memory, and in its command line and environment.
struct ProcessMemory {
    let id: pid_t

    /// Whether these bytes are anywhere in its writable memory.
    func holds(_ text: String) throws -> Bool {
        let wanted = Data(text.utf8)
        let memory = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(id)/mem"))
        let maps = try String(contentsOfFile: "/proc/\(id)/maps", encoding: .utf8)
        for line in maps.split(separator: "\n") where line.contains(" rw") {
            let ends = line.prefix { $0 != " " }.split(separator: "-").map {
                UInt64($0, radix: 16) ?? 0
            }
            guard ends.count == 2 else { continue }
            try memory.seek(toOffset: ends[0])
            // Some ranges, such as the kernel's own, cannot be read.
            guard let data = try? memory.read(upToCount: Int(ends[1] - ends[0])) else { continue }
            if data.firstRange(of: wanted) != nil { return true }
        }
        return false
    }

    /// Whether the text is in what everybody or the same user can look up.
    func tells(_ text: String) throws -> Bool {
        try ["cmdline", "environ"].contains { file in
            let data = try Data(contentsOf: URL(filePath: "/proc/\(id)/\(file)"))
            return data.firstRange(of: Data(text.utf8)) != nil
        }
    }
}

extension Pty {
    /// The only child of its program.
    func child() throws -> pid_t {
        let path = "/proc/\(processID)/task/\(processID)/children"
        let list = try String(contentsOfFile: path, encoding: .utf8)
        return try #require(list.split(separator: " ").first.flatMap { pid_t($0) })
    }
}
