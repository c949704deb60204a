// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// Applications built with ThreadSanitizer, against the ordinary daemon. `scripts/test` builds them and
/// says where they are.
@Suite(.timeLimit(.minutes(5))) struct `ThreadSanitizer` {
    private static let folder = ProcessInfo.processInfo.environment["LOCALAUTH_SANITIZED"]

    /// Runs the probe while somebody touches the reader whenever that is wanted; its output and what
    /// ThreadSanitizer says.
    private func run(_ mode: String, _ count: Int) async throws -> (ProgramResult, String) {
        let folder = try #require(Self.folder, "LOCALAUTH_SANITIZED is not set: use scripts/test")
        let scene = try await ContextScene()
        let touches = Task { [watcher = scene.watcher, storage = scene.service.storage] in
            while !Task.isCancelled {
                await watcher.fingerIsNeeded()
                // What wanted the finger may have ended since.
                _ = try? storage.send("SCAN mine")
            }
        }
        defer { touches.cancel() }
        let scratch = try Scratch()
        var environment = scene.service.bus.environment
        environment["TSAN_OPTIONS"] = "log_path=\(scratch.file("tsan")) exitcode=66"
        let result = try await BusTestKit.run(
            folder + "/context-probe", [mode, "\(count)"], environment: environment)
        let reports = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
            .filter { $0.hasPrefix("tsan") }
            .map { try String(contentsOfFile: scratch.file($0), encoding: .utf8) }
        return (result, reports.joined(separator: "\n"))
    }

    @Test func `finds nothing when everything is done at once`() async throws {
        let (result, reports) = try await run("threads", 100)
        #expect(reports == "")
        #expect(result.status == 0 && result.output == "done\n", "\(result.errors)")
    }

    @Test func `finds nothing in one evaluation after the other`() async throws {
        let (result, reports) = try await run("leaks", 100)
        #expect(reports == "")
        #expect(result.status == 0 && result.output.contains("100: descriptors"))
    }
}
