// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import PasswordFallback
import Testing

/// Where a password is to be found, and where it is not.
@Suite(
    .timeLimit(.minutes(3)), .serialized,
    .enabled(if: TestAccount.isPossible, "only root can look into processes"))
struct `A password` {
    /// Runs a shell's commands in a folder; what they write is what is typed.
    private func typed(_ commands: String, in scratch: Scratch) async throws -> TypedEntry {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let entry = TypedEntry(adopting: ends[0])
        let writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        let child = try Child(
            "/bin/sh", ["-ec", "cd \(scratch.path)\n\(commands)"], log: scratch.file("log"),
            output: writing)
        #expect(await child.wait() == 0, "\(child.logText)")
        try writing.close()
        return entry
    }

    @Test func `is in the memory of the program that checks it, and nowhere else`() async throws {
        let scratch = try Scratch()
        let module = try await TestModule.build(in: scratch)
        let scene = try PasswordScene(
            services: [
                "test": """
                auth required \(matrix) passdb=\(scratch.file("passdb"))
                auth required \(module) on=x
                account required pam_permit.so

                """
            ], scratch: scratch)
        let secret = scratch.file("secret")
        let entry = try await typed(
            """
            tr -dc a-zA-Z0-9 </dev/urandom | head -c 48 >secret
            echo "root:$(cat secret):test" >passdb
            cat secret
            """, in: scratch)
        let check = BusQueue.task {
            await scene.passwords.verify(entry, of: scene.account, with: scene.person)
        }
        // PAM has taken the password, keeps it for its next modules, and asks for more.
        await scene.person.texts.reaches(1)
        let helper = try #require(try scene.helpers().first)
        let found = try await SecretSearch.find(secret, in: helper, getpid())
        #expect(found == ["memory \(helper)"])
        let limits = try String(contentsOfFile: "/proc/\(helper)/limits", encoding: .utf8)
        #expect(limits.contains(/Max core file size +0 +0/))
        check.cancel()
        #expect(await check.value == .unavailable)
        #expect(try scene.helpers() == [])
        let later = try await SecretSearch.find(secret, in: getpid())
        #expect(later == [])
    }
    @Test func `is wiped there when PAM has seen it, before the check is over`() async throws {
        try await TestAccount.with { account in
            let scratch = try Scratch()
            let module = try await TestModule.build(in: scratch)
            // The second stage asks, so that there is time to look.
            let scene = try PasswordScene(
                user: account.name,
                services: [
                    "test": "auth required pam_unix.so\naccount required \(module) on=x\n"
                ], scratch: scratch)
            let entry = try await typed(
                """
                tr -dc a-zA-Z0-9 </dev/urandom | head -c 48 >secret
                echo "\(account.name):$(cat secret)" | chpasswd -c SHA512 -s 1000
                cat secret
                """, in: scratch)
            let check = BusQueue.task {
                await scene.passwords.verify(entry, of: scene.account, with: scene.person)
            }
            await scene.person.texts.reaches(1)
            let helper = try #require(try scene.helpers().first)
            let found = try await SecretSearch.find(scratch.file("secret"), in: helper, getpid())
            #expect(found == [])
            await scene.person.give("x")
            #expect(await check.value == .correct)
        }
    }
}
