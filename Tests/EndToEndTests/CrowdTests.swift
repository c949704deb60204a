// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A crowd` {
    @Test(.enabled("needs root, to be another user") { OtherAccount.canBe })
    func `of users who do not sit here delays nobody who does`() async throws {
        let scene = try await MachineScene()
        let (service, client) = (scene.service, scene.client)
        // Logged in, and not at the machine.
        await scene.logind.add(
            "c2", FakeLogind.Session(isActive: false, user: UInt32(OtherAccount.alice.uid)))
        await scene.logind.setDisplay(of: UInt32(OtherAccount.alice.uid), to: "c2")
        // Each asks as fast as it can until it is ended.
        let call = busctl(service, "EvaluatePolicy", ["usa{sv}", "1", "let me in", "0"])
        let loop = "while :; do \"$@\" 2>>\"$0\"; done"
        let refusals = service.scratch.file("refusals")
        _ = FileManager.default.createFile(
            atPath: refusals, contents: nil, attributes: [.posixPermissions: 0o666])
        let crowd = try (0..<8).map { _ in
            let line = OtherAccount.alice.prefix + ["/bin/sh", "-c", loop, refusals] + call
            return try Child(
                line[0], Array(line.dropFirst()), log: service.scratch.file("crowd"))
        }
        defer { for child in crowd { child.signal(SIGKILL) } }
        func refused() -> Int {
            let text = (try? String(contentsOfFile: refusals, encoding: .utf8)) ?? ""
            return text.components(separatedBy: "The user cannot be asked here and now").count - 1
        }
        while refused() < 20 { try await Task.sleep(for: .milliseconds(20)) }
        var slowest = Duration.zero
        for _ in 0..<20 {
            let start = ContinuousClock.now
            let evaluation = evaluating(client)
            await client.fingerIsNeeded()
            try service.storage.send("SCAN mine")
            _ = try await evaluation.value
            slowest = max(slowest, .now - start)
            try await service.storage.waitUntilClosed()
        }
        print("beside 8 loops, \(refused()) refusals: \(slowest) for an evaluation at most")
        #expect(slowest < .seconds(3))
        #expect(try await client.attemptsLeft() == 5)
    }

    @Test func `of prompts that nobody answers is thinned out`() async throws {
        let (service, client) = try await enrolled()
        // The fourth waits for two seconds already, and the fifth would for four.
        for timeout in [UInt32(1), 1, 1, 4] {
            let evaluation = evaluating(client, options: ["timeout": .uint32(timeout)])
            try await service.storage.waitUntilOpen()
            #expect(await error(of: evaluation) == .timeout)
            try await service.storage.waitUntilClosed()
        }
        // Not refused; but the sensor stays dark for longer than this one wants to wait.
        #expect(try await client.can().canEvaluate)
        let dark = evaluating(client, "dark", options: ["timeout": .uint32(1)])
        await client.next { $0 == .progress(token: "dark", state: "queued") }
        #expect(await error(of: dark) == .timeout)
        #expect(
            await !client.heard.contains(.progress(token: "dark", state: "waiting-for-finger")))
        // Somebody is back.
        try await touch(service.storage, by: client)
        let lit = evaluating(client, "lit", options: ["timeout": .uint32(1)])
        await client.next { $0 == .progress(token: "lit", state: "waiting-for-finger") }
        #expect(await error(of: lit) == .timeout)
    }
}
