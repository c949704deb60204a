// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

extension TestClient {
    fileprivate func history() async throws(BusError) -> [[String: BusValue]] {
        try await call(GetHistory.self, GetHistory.Arguments(user: "", limit: 0)).entries
    }
}

@Suite(.timeLimit(.minutes(2))) struct `The user's history` {
    private func outcomes(_ client: TestClient) async throws -> [String] {
        try await client.history().map { entry in
            guard case .string(let outcome)? = entry["outcome"] else { return "?" }
            return outcome
        }
    }

    @Test func `outlives the daemon, however it ends`() async throws {
        let (service, client) = try await enrolled()
        try await touch(service.storage, by: client)
        try await miss(3, on: service.storage, by: client)
        service.daemon.signal(SIGTERM)
        #expect(await service.daemon.wait() == 0)
        try await service.restart()
        let expected = ["AuthenticationFailed", "success", "success"]
        #expect(try await outcomes(client) == expected)
        try await service.crashAndRestart()
        #expect(try await outcomes(client) == expected)
    }

    @Test func `names the program that asked, as far as it is known`() async throws {
        let (service, client) = try await enrolled()
        try await touch(service.storage, by: client)
        let entry = try #require(try await client.history().first)
        #expect(entry["caller-evidence"] == .string("unverified"))
        guard case .string(let name)? = entry["caller"] else {
            Issue.record("no name")
            return
        }
        // The executable's path where the daemon may look, else the name of its process.
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        #expect(name == own || own.hasSuffix("/" + name) || name.count == 15, "\(name)")
    }

    @Test func `has the evaluation that SIGTERM has ended`() async throws {
        let (service, client) = try await enrolled()
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        service.daemon.signal(SIGTERM)
        #expect(await error(of: evaluation) == .systemCancel)
        #expect(await service.daemon.wait() == 0)
        try await service.restart()
        #expect(try await outcomes(client) == ["SystemCancel", "success"])
    }

    @Test func `can always be read after kill -9 in the middle of everything`() async throws {
        let (service, client) = try await enrolled()
        var counts: [Int] = []
        for round in 0..<20 {
            let (bus, daemon) = (service.bus, service.daemon)
            let storm = (0..<4).map { number in
                Task {
                    // Until the daemon is gone.
                    for _ in 0..<1_000 {
                        let other = try await TestClient(bus)
                        let evaluation = evaluating(other, "\(number)")
                        await other.next { heard in
                            if case .progress = heard { true } else { false }
                        }
                        do {
                            try await other.cancel()
                            _ = await evaluation.result
                            await other.close()
                        } catch {
                            _ = await evaluation.result
                            return await other.close()
                        }
                        guard daemon.isRunning else { return }
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(20 + 7 * round))
            service.daemon.signal(SIGKILL)
            await service.daemon.wait()
            for task in storm { task.cancel() }
            for task in storm { _ = await task.result }
            try await service.restart()
            counts.append(try await outcomes(client).count)
            #expect(!service.log.contains("history unreadable"))
            let names = try FileManager.default.contentsOfDirectory(
                atPath: service.stateDirectory + "/history")
            #expect(!names.contains { $0.hasPrefix("damaged-") })
        }
        print("entries after each kill: \(counts)")
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 <= $1 })
        #expect((counts.last ?? 0) > 1)
    }

    @Test func `is shown by the command line`() async throws {
        let (service, client) = try await enrolled()
        let evaluation = Task {
            try await client.evaluate(reason: "pay \u{1b}]0;x\u{7}\u{202e}now")
        }
        await client.fingerIsNeeded()
        try service.storage.send("SCAN mine")
        _ = try await evaluation.value
        func ctl(_ arguments: String...) async throws -> ProgramResult {
            try await run(
                productsDirectory.appending(path: "localauthctl").path, arguments,
                environment: service.bus.environment)
        }
        let plain = try await ctl("history")
        #expect(plain.status == 0)
        let lines = plain.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.contains(" evaluate success biometrics uid=\(getuid())") == true)
        #expect(lines.first?.hasSuffix(": pay \u{fffd}]0;x\u{fffd}\u{fffd}now") == true)
        #expect(lines.last?.contains(" enroll success uid=\(getuid())") == true)
        let json = try await ctl("history", "--json", "--limit", "1")
        #expect(json.status == 0)
        let parsed = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
        let object = try #require(parsed as? [String: Any])
        #expect(object["type"] as? String == "history")
        let entries = try #require(object["entries"] as? [[String: Any]])
        #expect(entries.count == 1)
        #expect(Set(entries[0].keys) == Set(HistoryKey.allCases.map(\.rawValue)))
        #expect(try await ctl("history", "--user", "nobody-here").status == 2)
        #expect(try await ctl("history", "--limit", "0").status == 2)
    }

    @Test(.enabled(if: OtherAccount.canBe, "other users are root's to be"))
    func `is each user's own`() async throws {
        let (service, _) = try await enrolled()
        let mine = busctl(
            service, "GetHistory", ["su", "", "0"],
            interface: "org.example.LocalAuth.Management")
        let roots = busctl(
            service, "GetHistory", ["su", "root", "0"],
            interface: "org.example.LocalAuth.Management")
        let own = try await run(mine, as: .alice)
        #expect(own.status == 0 && own.output == "aa{sv} 0\n", "\(own)")
        #expect(try await run(roots, as: .alice).status != 0)
        #expect(try await run(roots).output.contains("enroll"))
    }
}
