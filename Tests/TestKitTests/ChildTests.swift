// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import TestKit
import Testing

@Suite struct `A program that a test has started` {
    @Test(.timeLimit(.minutes(1))) func `leaves no descriptor behind when it has ended`()
        async throws
    {
        let scratch = try Scratch()
        // The stream ends when nobody has the pipe's other end any more.
        let output = lines(from: try await runTrue(scratch))
        for await _ in output {}
    }

    @Test func `has no signal blocked`() async throws {
        let shown = try await run("/bin/sh", ["-c", "grep SigBlk /proc/self/status"])
        #expect(shown.output.hasSuffix("\t0000000000000000\n"), "\(shown.output)")
    }

    /// Runs a program whose output is a pipe's end that nobody else has.
    private func runTrue(_ scratch: Scratch) async throws -> FileHandle {
        let pipe = Pipe()
        let child = try Child(
            "/bin/true", [], log: scratch.file("log"), output: pipe.fileHandleForWriting)
        #expect(await child.wait() == 0)
        return pipe.fileHandleForReading
    }
}
