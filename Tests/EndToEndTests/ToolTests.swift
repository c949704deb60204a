// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Tools of others` {
    enum Tool: String, CaseIterable, Sendable { case busctl, gdbus }

    private func line(_ tool: Tool, _ service: TestService, _ policy: Int = 1) -> [String] {
        switch tool {
        case .busctl:
            busctl(service, "EvaluatePolicy", ["usa{sv}", "\(policy)", "by a tool", "0"])
        case .gdbus:
            [
                "/usr/bin/gdbus", "call", "--address", service.bus.address, "--timeout", "60",
                "--dest", "org.example.LocalAuth", "--object-path", "/org/example/LocalAuth",
                "--method", "org.example.LocalAuth.EvaluatePolicy", "\(policy)", "by a tool", "{}",
            ]
        }
    }

    @Test(arguments: Tool.allCases)
    func `exit with 0 for a success and with another status for everything else`(
        tool: Tool
    ) async throws {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)
        #expect(try await run(line(tool, service)).status != 0, "nothing enrolled")
        #expect(try await run(line(tool, service, 3)).status != 0, "no such policy")
        try await enrol(on: service, by: client)
        _ = try await client.call(Watch.self, NoValues())

        let accepted = running(line(tool, service))
        await client.fingerIsNeeded()
        try service.storage.send("SCAN mine")
        let result = try await accepted.value
        #expect(result.status == 0)
        #expect(result.output.contains("biometrics"))

        let refused = running(line(tool, service))
        for _ in 0..<3 {
            await client.fingerIsNeeded()
            try service.storage.send("SCAN other")
        }
        let failure = try await refused.value
        #expect(failure.status != 0)
        #expect(failure.output == "")

        let locked = running(line(tool, service))
        for _ in 0..<2 {
            await client.fingerIsNeeded()
            try service.storage.send("SCAN other")
        }
        #expect(try await locked.value.status != 0)
        #expect(try await run(line(tool, service)).status != 0, "locked out")
    }

    @Test func `find out what there is`() async throws {
        let service = try await TestService(.storage)
        // Answered when the readers have been looked for.
        _ = try await TestClient(service.bus).can()
        for path in ["/org/example/LocalAuth", "/org/example/LocalAuth/reader/1", "/"] {
            let result = try await run([
                "/usr/bin/busctl", "--address=\(service.bus.address)", "introspect",
                "org.example.LocalAuth", path,
            ])
            #expect(result.status == 0, "\(path): \(result.errors)")
        }
        let tree = try await run([
            "/usr/bin/busctl", "--address=\(service.bus.address)", "tree", "--list",
            "org.example.LocalAuth",
        ])
        #expect(tree.output.contains("/org/example/LocalAuth/reader/1"))
    }
}
