// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import SystemAuthorities
import SystemSupport
import Testing

/// Real accounts of this machine, checked by pam_unix.
@Suite(
    .timeLimit(.minutes(3)), .serialized,
    .enabled(if: TestAccount.isPossible, "only root can make accounts"))
struct `A real account` {
    private static func services(nullok: Bool = false) -> [String: String] {
        [
            "test": """
            auth    required pam_unix.so nodelay \(nullok ? "nullok" : "")
            account required pam_unix.so

            """
        ]
    }

    private static func check(
        _ text: String, of account: TestAccount, nullok: Bool = false
    ) async throws -> PasswordVerdict {
        try await PasswordScene(user: account.name, services: services(nullok: nullok)).check(text)
    }

    private static func standing(of account: TestAccount) async throws -> PasswordStanding {
        startBusQueue()
        let account = Account(
            id: try #require(UserID(4_711)), name: try #require(UserName(account.name)))
        return await BusQueue.task {
            await ShadowDatabase(
                threads: LookupThreads(), log: Log(topic: "test", threshold: .error)
            ).standing(of: account)
        }.value
    }

    @Test func `is let in with its password only`() async throws {
        try await TestAccount.with { account in
            #expect(try await Self.check(TestAccount.password, of: account) == .correct)
            #expect(try await Self.check("wrong", of: account) == .wrong)
            #expect(try await Self.check("", of: account) == .empty)
            let standing = try await Self.standing(of: account)
            #expect(standing == PasswordStanding(isSet: true, hasAccountExpired: false))
        }
    }

    @Test(arguments: [true, false])
    func `without a password is never let in`(nullok: Bool) async throws {
        try await TestAccount.with { account in
            try await account.change("passwd -d \(account.name)")
            for text in ["", " ", "x", TestAccount.password] {
                let verdict = try await Self.check(text, of: account, nullok: nullok)
                #expect(verdict != .correct, "\(text)")
            }
            #expect(try await Self.check("", of: account, nullok: nullok) == .empty)
            #expect(try await Self.standing(of: account).isSet == false)
        }
    }

    @Test(arguments: ["!", "*", "!!", "!*"])
    func `that is shut is not let in`(field: String) async throws {
        try await TestAccount.with { account in
            try await account.change("usermod -p '\(field)' \(account.name)")
            for text in [TestAccount.password, field] {
                #expect(try await Self.check(text, of: account) == .wrong)
                #expect(try await Self.check(text, of: account, nullok: true) == .wrong)
            }
            #expect(try await Self.standing(of: account).isSet == false)
        }
    }

    @Test func `that is locked is not let in until it is unlocked`() async throws {
        try await TestAccount.with { account in
            try await account.change("usermod -L \(account.name)")
            #expect(try await Self.check(TestAccount.password, of: account) == .wrong)
            #expect(try await Self.standing(of: account).isSet == false)
            try await account.change("usermod -U \(account.name)")
            #expect(try await Self.check(TestAccount.password, of: account) == .correct)
        }
    }

    @Test func `that has expired is not let in, with the right password either`() async throws {
        try await TestAccount.with { account in
            try await account.change("chage -E 0 \(account.name)")
            #expect(
                try await Self.check(TestAccount.password, of: account) == .accountUnavailable)
            #expect(try await Self.check("wrong", of: account) == .wrong)
            let standing = try await Self.standing(of: account)
            #expect(standing == PasswordStanding(isSet: true, hasAccountExpired: true))
        }
    }

    @Test func `whose password must be changed first is not let in, and told why`() async throws {
        try await TestAccount.with { account in
            try await account.change("chage -d 0 \(account.name)")
            let scene = try PasswordScene(user: account.name, services: Self.services())
            #expect(await scene.check(TestAccount.password) == .accountUnavailable)
            #expect(await scene.person.texts.entries.count == 1)
            #expect(await scene.person.texts.entries.first?.kind == .error)
            #expect(await scene.check("wrong") == .wrong)
        }
    }

    @Test func `is remembered until its file changes`() async throws {
        try await TestAccount.with { account in
            let name = try #require(UserName(account.name))
            let id = try #require(UserID(4_711))
            let shadow = ShadowDatabase(
                threads: LookupThreads(), log: Log(topic: "test", threshold: .error))
            @Sendable func standing() async -> PasswordStanding {
                await BusQueue.task {
                    await shadow.standing(of: Account(id: id, name: name))
                }.value
            }
            #expect(await standing().isSet)
            try await account.change("usermod -L \(account.name)")
            // The kernel's word of it is there already; it is taken before the next question.
            #expect(await standing().isSet == false)
            try await account.change("usermod -U -e 1 \(account.name)")
            #expect(await standing() == PasswordStanding(isSet: true, hasAccountExpired: true))
        }
    }

    @Test func `that nobody knows is no account`() async throws {
        let scene = try PasswordScene(user: "la-nobody-has-this", services: Self.services())
        #expect(await scene.check("x") == .unavailable)
    }

    // MARK: pam_faillock

    private static func faillock(_ directory: String) -> String {
        let options = "dir=\(directory) deny=3 unlock_time=600"
        return """
            auth    requisite      pam_faillock.so preauth \(options)
            auth    sufficient     pam_unix.so nodelay
            auth    [default=die]  pam_faillock.so authfail \(options)
            account required       pam_unix.so
            account required       pam_faillock.so \(options)

            """
    }

    /// How many misses pam_faillock has written down: records of 64 bytes.
    private static func tally(_ directory: String, _ account: TestAccount) -> Int {
        (FileManager.default.contents(atPath: "\(directory)/\(account.name)")?.count ?? 0) / 64
    }

    @Test func `is counted by pam_faillock for wrong passwords, and for nothing else`() async throws
    {
        try await TestAccount.with { account in
            let scratch = try Scratch()
            let scene = try PasswordScene(
                user: account.name, services: ["test": Self.faillock(scratch.path)])
            func tally() -> Int { Self.tally(scratch.path, account) }
            for _ in 0..<5 { #expect(await scene.check(TestAccount.password) == .correct) }
            #expect(tally() == 0)
            for _ in 0..<5 { #expect(await scene.check("") == .empty) }
            let tooLong = [UInt8](repeating: 0x61, count: 600)
            for _ in 0..<5 { #expect(await scene.check(TypedEntry(tooLong)) == .wrong) }
            for _ in 0..<2 {
                // SAFETY: the literal is only read.
                let noPipe = unsafe open("/dev/null", O_RDONLY)
                #expect(await scene.check(TypedEntry(adopting: noPipe)) == .unavailable)
            }
            #expect(tally() == 0)
            for count in 1...2 {
                #expect(await scene.check("wrong") == .wrong)
                #expect(tally() == count)
            }
            #expect(await scene.check(TestAccount.password) == .correct)
            #expect(tally() == 0)
            for _ in 0..<3 { #expect(await scene.check("wrong") == .wrong) }
            // Locked: the right password does not help, and is not called wrong.
            #expect(await scene.check(TestAccount.password) == .accountUnavailable)
            #expect(await scene.check("wrong") == .accountUnavailable)
            #expect(await scene.person.texts.entries.last?.kind == .information)
            #expect(tally() == 3)
        }
    }

    @Test func `is checked and counted without any capability, as the unit has it`() async throws {
        try await TestAccount.with { account in
            let scratch = try Scratch()
            let helper = productsDirectory.appending(path: "localauth-pam-helper").path
            let program = try scratch.write(
                "program",
                """
                #!/bin/sh
                exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs \(helper) "$@"

                """)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: program)
            let tallies = scratch.file("tallies")
            try FileManager.default.createDirectory(
                atPath: tallies, withIntermediateDirectories: false)
            let scene = try PasswordScene(
                user: account.name, services: ["test": Self.faillock(tallies)],
                program: program, scratch: scratch)
            #expect(await scene.check(TestAccount.password) == .correct)
            for count in 1...2 {
                #expect(await scene.check("wrong") == .wrong)
                #expect(Self.tally(tallies, account) == count)
            }
            #expect(await scene.check(TestAccount.password) == .correct)
            #expect(Self.tally(tallies, account) == 0)
            try await account.change("chage -E 0 \(account.name)")
            #expect(await scene.check(TestAccount.password) == .accountUnavailable)
        }
    }

    // MARK: Our own service

    @Test func `is checked by the service that comes with us`() async throws {
        try await TestAccount.with { account in
            let source = URL(filePath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "policy/localauth.pam")
            let scene = try PasswordScene(
                user: account.name,
                services: ["test": try String(contentsOf: source, encoding: .utf8)])
            #expect(await scene.check(TestAccount.password) == .correct)
            #expect(await scene.check("wrong") == .wrong)
            try await account.change("chage -E 0 \(account.name)")
            #expect(await scene.check(TestAccount.password) == .accountUnavailable)
            try await account.change("chage -E -1 \(account.name); passwd -d \(account.name)")
            #expect(await scene.check(TestAccount.password) != .correct)
        }
    }
}
