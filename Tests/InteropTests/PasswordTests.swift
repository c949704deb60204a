// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// A real account, PAM with the shipped service, the built daemon and helper, and localauthctl on a
/// terminal of that account's.
@Suite(
    .timeLimit(.minutes(2)), .serialized,
    .enabled(if: TestAccount.isPossible, "only root can make accounts"))
struct `With a real password` {
    @Test func `a person gets in on the terminal, at the second try`() async throws {
        try await PasswordStage.with { stage in
            let pty = try stage.localauthctl("evaluate", "--policy", "any", "--reason", "x")
            #expect(await pty.shows("Password: "))
            pty.type("not this one\n")
            #expect(await pty.shows("That password is wrong (tries left: 2).\r\nPassword: "))
            pty.type(TestAccount.password + "\n")
            #expect(await pty.shows("authenticated: password"))
            #expect(await pty.wait() == 0)
            #expect(!pty.text.contains(TestAccount.password))
        }
    }

    @Test func `three wrong ones end it, and Ctrl-C cancels it`() async throws {
        try await PasswordStage.with { stage in
            let pty = try stage.localauthctl("evaluate", "--policy", "any", "--reason", "x")
            for _ in 1...3 {
                #expect(await pty.shows("Password: "))
                pty.type("wrong\n")
            }
            #expect(await pty.shows("(AuthenticationFailed)"))
            #expect(await pty.wait() == 1)
            let other = try stage.localauthctl("evaluate", "--policy", "any", "--reason", "x")
            #expect(await other.shows("Password: "))
            other.type("\u{3}")
            #expect(await other.shows("(UserCancel)"))
            #expect(await other.wait() == 3)
        }
    }

    @Test func `a lockout ends by unlock, and by no finger`() async throws {
        try await PasswordStage.with { stage in
            try await stage.enrolFinger()
            for misses in [3, 2] {
                let evaluation = BusQueue.task {
                    [client = stage.client, name = stage.account.name] in
                    _ = try? await client.evaluate(["user": .string(name)])
                }
                for _ in 0..<misses { try await stage.service.storage.sendWhenOpen("SCAN other") }
                await evaluation.value
                try await stage.service.storage.waitUntilClosed()
            }
            let refused = try stage.localauthctl("evaluate", "--reason", "x")
            #expect(await refused.wait() == 6)
            let pty = try stage.localauthctl("unlock")
            #expect(await pty.shows("Password: "))
            pty.type(TestAccount.password + "\n")
            #expect(await pty.wait() == 0)
            let can = try stage.localauthctl("can")
            #expect(await can.wait() == 0)
            let again = try stage.localauthctl("unlock")
            #expect(await again.shows("not locked out"))
            #expect(await again.wait() == 0)
        }
    }

    @Test func `pam_faillock counts wrong ones, and neither fingers nor closed prompts`()
        async throws
    {
        try await PasswordStage.with(faillock: true) { stage in
            try await stage.enrolFinger()
            let agent = TestAgent(stage.client)
            try await agent.register(.own)
            let options: [String: BusValue] = ["user": .string(stage.account.name)]
            func evaluate() -> Task<String?, Never> {
                BusQueue.task { [client = stage.client] in
                    do throws(BusError) {
                        _ = try await client.evaluate(policy: 2, options)
                        return nil
                    } catch {
                        return ServiceError(error.name)?.rawValue
                    }
                }
            }
            var prompts = 0
            for _ in 1...5 {
                let hit = evaluate()
                prompts += 1
                _ = await agent.prompt(prompts)
                await stage.client.fingerIsNeeded()
                try stage.service.storage.send("SCAN mine")
                #expect(await hit.value == nil)
                let canceled = evaluate()
                prompts += 1
                try await agent.cancel(await agent.prompt(prompts))
                #expect(await canceled.value == "UserCancel")
                let empty = evaluate()
                prompts += 1
                let id = await agent.prompt(prompts)
                try await agent.enter("", id)
                try await stage.client.cancel()
                #expect(await empty.value == "AppCancel")
            }
            #expect(stage.tally == 0)
            let failed = evaluate()
            let id = await agent.prompt(prompts + 1)
            for _ in 1...3 { try await agent.enter("wrong", id) }
            #expect(await failed.value == "AuthenticationFailed")
            #expect(stage.tally == 3)
            // The account is locked now, and that is what is said, also of the right password.
            let locked = evaluate()
            let last = await agent.prompt(prompts + 2)
            let reply = try await agent.enter(TestAccount.password, last)
            #expect(!reply.accepted)
            #expect(await locked.value == "AccountUnavailable")
            #expect(stage.tally == 3)
        }
    }

    @Test func `an account without one, or that has expired, is not asked`() async throws {
        try await PasswordStage.with { stage in
            let any = ["evaluate", "--policy", "any", "--reason", "x"]
            _ = try await stage.localauthctl("can", "--policy", "any").wait()
            stage.client.forgetHeard()
            try await stage.account.change("passwd -d \(stage.account.name)")
            // Whoever was told that there is one hears of it.
            await stage.client.next { $0 == .environmentChanged }
            let empty = try stage.localauthctl(any)
            #expect(await empty.shows("(PasscodeNotSet)"))
            #expect(await empty.wait() == 5)
            try await stage.account.setPassword()
            try await stage.account.change("chage -E 0 \(stage.account.name)")
            let expired = try stage.localauthctl(any)
            #expect(await expired.shows("(AccountUnavailable)"))
            #expect(await expired.wait() == 7)
        }
    }

    @Test func `is nowhere but with who checks it, as long as that runs`() async throws {
        try await PasswordStage.with(asksMore: true) { stage in
            // Made and typed by others, so that this process never has it.
            let secret = stage.scratch.file("secret")
            try await stage.account.change(
                "tr -dc a-zA-Z0-9 </dev/urandom | head -c 48 >\(secret) && "
                    + "echo \"\(stage.account.name):$(cat \(secret))\" | chpasswd -c SHA512 -s 1000"
            )
            let capture = stage.scratch.file("capture")
            let monitor = try Child(
                "/usr/bin/dbus-monitor", ["--address", stage.service.bus.address, "--binary"],
                log: stage.scratch.file("monitor"),
                output: try Self.newFile(capture))
            // It is there when it has seen a call.
            while try Data(contentsOf: URL(filePath: capture)).isEmpty {
                _ = try await stage.client.can()
                try await Task.sleep(for: .milliseconds(10))
            }
            let pty = try stage.localauthctl("evaluate", "--policy", "any", "--reason", "x")
            #expect(await pty.shows("Password: "))
            try await pty.type(contentsOf: secret)
            // PAM has taken it, and asks for more.
            #expect(await pty.shows("Frage"))
            let helper = try #require(try stage.helper())
            let daemon = stage.service.daemon.processID
            let found = try await SecretSearch.find(
                secret, in: helper, daemon, pty.processID, stage.service.bus.processID)
            #expect(found == ["memory \(helper)"])
            pty.type("x\n")
            #expect(await pty.shows("authenticated: password"))
            #expect(await pty.wait() == 0)
            #expect(!pty.text.contains("wrong"))
            #expect(try stage.helper() == nil)
            let later = try await SecretSearch.find(secret, in: daemon)
            #expect(later == [])
            monitor.signal(SIGKILL)
            await monitor.wait()
            let search = try await run(
                "/bin/sh", ["-c", "grep -cF \"$(cat \(secret))\" \(capture)"])
            #expect(search.output == "0\n")
            // The search would have found it: what was asked is there.
            let seen = try await run("/bin/sh", ["-c", "grep -cF SubmitPassword \(capture)"])
            #expect(seen.output != "0\n")
            #expect(!stage.service.log.contains("SubmitPassword"))
        }
    }

    private static func newFile(_ path: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return try FileHandle(forWritingTo: URL(filePath: path))
    }

    @Test func `checks leave nothing behind, one after the other`() async throws {
        try await PasswordStage.with(pam: "auth required pam_deny.so\n") { stage in
            let agent = TestAgent(stage.client)
            try await agent.register(.own)
            var prompts = 0
            func round() async throws {
                let options: [String: BusValue] = ["user": .string(stage.account.name)]
                let evaluation = Task { [client = stage.client] in
                    try await client.evaluate(policy: 2, options)
                }
                prompts += 1
                let id = await agent.prompt(prompts)
                let reply = try await agent.enter("x", id)
                #expect(!reply.accepted)
                // PAM has refused without a look at it: that is not a wrong password.
                #expect(await error(of: evaluation) == .accountUnavailable)
            }
            let process = DaemonProcess(stage.service.daemon.processID)
            func figures() async throws -> (descriptors: Int, threads: Int) {
                // The history is written behind the answers.
                _ = try await stage.client.call(
                    GetHistory.self, GetHistory.Arguments(user: stage.account.name, limit: 1))
                return (try process.lastingDescriptors(), try process.lastingThreads().count)
            }
            for _ in 0..<20 { try await round() }
            let before = try await figures()
            for _ in 0..<200 { try await round() }
            let after = try await figures()
            print("200 checks: \(before) descriptors and threads before, \(after) after")
            #expect(abs(after.descriptors - before.descriptors) <= 1)
            #expect(after.threads <= before.threads)
            #expect(try process.children() == 0)
        }
    }

    @Test func `the check is gone when its caller is, and others are served`() async throws {
        try await PasswordStage.with(asksMore: true) { stage in
            let pty = try stage.localauthctl("evaluate", "--policy", "any", "--reason", "x")
            #expect(await pty.shows("Password: "))
            pty.type(TestAccount.password + "\n")
            #expect(await pty.shows("Frage"))
            #expect(try stage.helper() != nil)
            pty.signal(SIGKILL)
            _ = await pty.wait()
            // Its place in line is free when nothing of it is left.
            try await stage.enrolFinger()
            #expect(try stage.helper() == nil)
        }
    }
}

/// A finger is enrolled with the password, which the real polkit only lets ask.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled("needs root, and polkitd at \(PolkitDaemon.program)") {
        getuid() == 0 && FileManager.default.isExecutableFile(atPath: PolkitDaemon.program)
    })
struct `A finger of one's own` {
    @Test func `is enrolled with the password, on the terminal`() async throws {
        let bus = try await PrivateBus()
        let polkit = try await PolkitDaemon(on: bus)
        try await PasswordStage.with(
            bus: bus, configuration: `Questions to polkit`.configuration
        ) { stage in
            let denied = try stage.localauthctl("enroll", "left-thumb")
            #expect(await denied.wait() == 7)
            try await polkit.allow(stage.account.name, "org.example.localauth.manage")
            let pty = try stage.localauthctl("enroll", "left-thumb")
            #expect(await pty.shows("Password: "))
            #expect(!stage.service.storage.isOpen)
            pty.type(TestAccount.password + "\n")
            try await stage.service.storage.sendWhenOpen("SCAN thumb")
            for stageNumber in 1...4 {
                #expect(await pty.shows("\(stageNumber) of 5"))
                try stage.service.storage.send("SCAN thumb")
            }
            #expect(await pty.shows("enrolled: left-thumb"))
            #expect(await pty.wait() == 0)
            let prints = FileManager.default.enumerator(
                atPath: stage.service.printDirectory + "/" + stage.account.name)
            #expect(prints?.allObjects.contains { "\($0)".hasSuffix("/1") } == true)
        }
    }
}
