// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// The built daemon with the storage reader, a real account, and PAM for it.
@BusQueue final class PasswordStage {
    let service: TestService
    let client: TestClient
    let account: TestAccount
    let scratch: Scratch

    private init(
        _ service: TestService, _ client: TestClient, _ account: TestAccount, _ scratch: Scratch
    ) {
        self.service = service
        self.client = client
        self.account = account
        self.scratch = scratch
    }

    /// Runs a test with an account of its own.
    /// - Parameters:
    ///   - faillock: whether pam_faillock counts, three wrong ones at most.
    ///   - asksMore: whether PAM has a second question, whose answer is `x`.
    ///   - pam: what PAM goes by instead of the shipped file.
    ///   - bus: the bus; one of its own by default.
    ///   - configuration: the daemon's.
    ///   - body: the test.
    /// - Throws: what the test throws.
    nonisolated static func with(
        faillock: Bool = false, asksMore: Bool = false, pam: String? = nil,
        bus: PrivateBus? = nil,
        configuration: String = TestService.localConfiguration,
        _ body: @escaping @Sendable @BusQueue (PasswordStage) async throws -> Void
    ) async throws {
        startBusQueue()
        try await TestAccount.with { account in
            let scratch = try Scratch()
            var text = try pam ?? shipped()
            if faillock { text = Self.counting(text, in: scratch.path) }
            if asksMore {
                let module = try await TestModule.build(in: scratch)
                text = """
                    auth required pam_unix.so
                    auth required \(module) on=x
                    account required pam_unix.so

                    """
            }
            _ = try scratch.write("localauth", text)
            let service = try await TestService(
                .storage, configuration: configuration, bus: bus,
                arguments: ["--pam-dir", scratch.path])
            let client = try await TestClient(service.bus)
            let stage = await PasswordStage(service, client, account, scratch)
            try await body(stage)
            await client.close()
        }
    }

    /// The service as it is installed.
    private nonisolated static func shipped() throws -> String {
        try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../policy/localauth.pam"), encoding: .utf8)
    }

    /// With the lines of pam_faillock, which are there as comments.
    private nonisolated static func counting(_ text: String, in directory: String) -> String {
        text.components(separatedBy: "\n").map { line in
            guard line.hasPrefix("#"), line.contains("pam_faillock.so"), !line.hasPrefix("# ")
            else { return line }
            return line.dropFirst() + " dir=\(directory) deny=3"
        }.joined(separator: "\n")
    }

    /// How many misses pam_faillock has written down: records of 64 bytes.
    nonisolated var tally: Int {
        (FileManager.default.contents(atPath: scratch.file(account.name))?.count ?? 0) / 64
    }

    /// Starts localauthctl as the account, on a terminal.
    func localauthctl(_ arguments: String...) throws -> Pty { try localauthctl(arguments) }

    func localauthctl(_ arguments: [String]) throws -> Pty { try start("localauthctl", arguments) }

    /// Starts a program of this package as the account, on a terminal.
    /// - Parameters:
    ///   - name: its name.
    ///   - arguments: its arguments.
    ///   - home: the folder that the program takes for the account's.
    /// - Returns: the terminal.
    /// - Throws: what kept it from starting.
    func start(_ name: String, _ arguments: [String], home: String = "/nonexistent") throws -> Pty {
        // A copy that the account can run, wherever this package was built.
        let copy = scratch.file(name)
        if !FileManager.default.fileExists(atPath: copy) {
            try FileManager.default.copyItem(
                atPath: productsDirectory.appending(path: name).path, toPath: copy)
        }
        return try Pty(
            "/usr/bin/setpriv",
            ["--reuid", account.name, "--regid", "nogroup", "--clear-groups", "--", copy]
                + arguments,
            // Foundation's name for it; it goes by no other.
            environment: service.bus.environment.merging(["CFFIXED_USER_HOME": home]) { $1 })
    }

    /// Root enrols a finger of the account's.
    func enrolFinger() async throws {
        let name = account.name
        let enrolled = BusQueue.task { [client] in
            do throws(BusError) {
                try await client.enrol("right-thumb", user: name)
                return true
            } catch {
                client.stopWaiting()
                return false
            }
        }
        for _ in 0..<5 {
            guard await client.nextStage() != nil else { break }
            try service.storage.send("SCAN mine")
        }
        #expect(await enrolled.value)
        await client.nextStage()
    }

    /// The program that checks passwords, while it runs.
    func helper() throws -> pid_t? {
        let daemon = service.daemon.processID
        let tasks = "/proc/\(daemon)/task"
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            let list = try? String(contentsOfFile: "\(tasks)/\(task)/children", encoding: .utf8)
            if let child = (list ?? "").split(separator: " ").first { return pid_t(child) }
        }
        return nil
    }
}
