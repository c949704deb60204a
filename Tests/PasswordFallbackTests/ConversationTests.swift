// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import LocalAuthModel
import PasswordMessages
import Testing

/// PAM with the modules of Linux-PAM and one of our own, in the real program.
@Suite(.timeLimit(.minutes(2))) struct `A conversation with PAM` {
    /// A service whose lines name our module as `MODULE`.
    private static func scene(_ lines: String...) async throws -> PasswordScene {
        let scratch = try Scratch()
        let module = try await TestModule.build(in: scratch)
        let text = lines.map { $0.replacing("MODULE", with: module) + "\n" }.joined()
        return try PasswordScene(services: ["test": text], scratch: scratch)
    }

    private static let account = "account required pam_permit.so"

    @Test func `relays texts as they are, in order and from the beginning`() async throws {
        let long = String(repeating: "ß", count: 300)
        let scene = try await Self.scene(
            "auth required MODULE [info=Ihr Kennwort läuft in 3 Tagen ab.] [error=Gesperrt? – Nein]",
            "auth required MODULE off=secret [info=Danke schön!] info=\(long)",
            "account required MODULE [info=Das Konto ist in Ordnung]")
        #expect(await scene.check("secret") == .correct)
        #expect(
            await scene.person.texts.entries == [
                PasswordText(.information, "Ihr Kennwort läuft in 3 Tagen ab."),
                PasswordText(.error, "Gesperrt? – Nein"),
                PasswordText(.information, "Danke schön!"),
                PasswordText(.information, String(long.prefix(256))),
                PasswordText(.information, "Das Konto ist in Ordnung"),
            ])
    }

    @Test func `repairs texts that are no text`() async throws {
        let scratch = try Scratch()
        let broken = scratch.file("broken")
        try Data([0x61, 0xff, 0xc3, 0x0a, 0x62]).write(to: URL(filePath: broken))
        let scene = try PasswordScene(
            services: [
                "test": "auth optional pam_echo.so file=\(broken)\nauth required pam_deny.so\n"
            ], scratch: scratch)
        #expect(await scene.check("secret") == .accountUnavailable)
        let text = try #require(await scene.person.texts.entries.first?.text)
        #expect(text.hasPrefix("a\u{fffd}"))
    }

    @Test func `asks the person whatever comes after the first hidden question`() async throws {
        let scene = try await Self.scene(
            "auth required MODULE [on=eins zwei]", "auth required MODULE off=secret",
            "auth required MODULE off=next on=last", Self.account)
        await scene.person.willAnswer("eins zwei", "next", "last")
        #expect(await scene.check("secret") == .correct)
        #expect(
            await scene.person.texts.entries == [
                PasswordText(.question(isEchoed: true), "Frage für eins zwei: "),
                PasswordText(.question(isEchoed: false), "Frage für next: "),
                PasswordText(.question(isEchoed: true), "Frage für last: "),
            ])
        await scene.person.willAnswer("eins zwei", "next", "wrong")
        #expect(await scene.check("secret") == .wrong)
    }

    @Test func `may ask twice at once`() async throws {
        let scene = try await Self.scene("auth required MODULE both=secret", Self.account)
        await scene.person.willAnswer("secret")
        #expect(await scene.check("secret") == .correct)
        #expect(
            await scene.person.texts.entries == [PasswordText(.question(isEchoed: true), "two")])
    }

    @Test func `takes an empty answer for what is shown, and never for a password`() async throws {
        let shown = try await Self.scene("auth required MODULE off=secret on=", Self.account)
        await shown.person.willAnswer("")
        #expect(await shown.check("secret") == .correct)
        let hidden = try await Self.scene("auth required MODULE off=secret off=", Self.account)
        await hidden.person.willAnswer("")
        #expect(await hidden.check("secret") == .empty)
    }

    @Test func `takes no further answer that can be none`() async throws {
        let scene = try await Self.scene("auth required MODULE off=secret off=more", Self.account)
        await scene.person.willAnswer("more\0")
        #expect(await scene.check("secret") == .wrong)
    }

    @Test func `ends when there is no answer`() async throws {
        let scene = try await Self.scene("auth required MODULE off=secret off=more", Self.account)
        await scene.person.willAnswer(nil)
        #expect(await scene.check("secret") == .unavailable)
        #expect(try scene.helpers() == [])
    }

    @Test(arguments: ["style=5", "style=7", "style=0", "style=-1", "style=99"])
    func `refuses kinds of messages that it does not know`(word: String) async throws {
        let scene = try await Self.scene("auth required MODULE \(word)", Self.account)
        #expect(await scene.check("secret") == .unavailable)
    }

    @Test func `is not about another user in the end`() async throws {
        let scene = try await Self.scene("auth required MODULE off=secret user=bin", Self.account)
        #expect(await scene.check("secret") == .unavailable)
        let late = try await Self.scene(
            "auth required MODULE off=secret", "account required MODULE user=bin")
        #expect(await late.check("secret") == .unavailable)
        let same = try await Self.scene("auth required MODULE off=secret user=root", Self.account)
        #expect(await same.check("secret") == .correct)
    }

    @Test(arguments: ["pam_permit.so", "pam_rootok.so", "pam_debug.so auth=success"])
    func `is no proof when nobody looked at the password`(module: String) async throws {
        let scene = try PasswordScene("auth required \(module)", Self.account)
        #expect(await scene.check("secret") == .unavailable)
    }

    @Test func `needs a service of its own, whatever others allow`() async throws {
        let allowing = "auth required \(matrix) passdb=/dev/null\naccount required pam_permit.so\n"
        let scene = try PasswordScene(services: ["other": allowing])
        #expect(await scene.check("secret") == .unavailable)
        // Neither a directory nor nothing at all is one.
        try FileManager.default.createDirectory(
            atPath: scene.scratch.file("test"), withIntermediateDirectories: true)
        #expect(await scene.check("secret") == .unavailable)
    }

    @Test func `is no yes when a module is missing`() async throws {
        let scene = try PasswordScene("auth required pam_not_there.so", Self.account)
        #expect(await scene.check("secret") == .unavailable)
    }

    // MARK: Endings

    /// How pam_debug calls a result, and what that is in the first stage after the password was
    /// asked for, in the first stage before that, and in the second stage.
    static let endings: [(String, PasswordVerdict, PasswordVerdict, PasswordVerdict)] = [
        ("success", .correct, .unavailable, .correct),
        ("auth_err", .wrong, .accountUnavailable, .accountUnavailable),
        ("perm_denied", .wrong, .accountUnavailable, .accountUnavailable),
        ("acct_expired", .accountUnavailable, .accountUnavailable, .accountUnavailable),
        ("maxtries", .triesUsedUp, .triesUsedUp, .unavailable),
        ("new_authtok_reqd", .accountUnavailable, .accountUnavailable, .accountUnavailable),
        ("user_unknown", .unavailable, .unavailable, .unavailable),
        ("cred_insufficient", .unavailable, .unavailable, .unavailable),
        ("cred_unavail", .unavailable, .unavailable, .unavailable),
        ("cred_expired", .unavailable, .unavailable, .unavailable),
        ("authinfo_unavail", .unavailable, .unavailable, .unavailable),
        ("authtok_err", .unavailable, .unavailable, .unavailable),
        ("system_err", .unavailable, .unavailable, .unavailable),
        ("service_err", .unavailable, .unavailable, .unavailable),
        ("open_err", .unavailable, .unavailable, .unavailable),
        ("symbol_err", .unavailable, .unavailable, .unavailable),
        ("buf_err", .unavailable, .unavailable, .unavailable),
        ("abort", .unavailable, .unavailable, .unavailable),
        ("module_unknown", .unavailable, .unavailable, .unavailable),
        ("conv_err", .unavailable, .unavailable, .unavailable),
    ]

    @Test(arguments: endings) func `has one verdict for each of PAM's results`(
        name: String, asked: PasswordVerdict, unasked: PasswordVerdict, account: PasswordVerdict
    ) async throws {
        let scratch = try Scratch()
        let passwords = try scratch.write("passdb", "root:secret:test\n")
        let question = "auth required \(matrix) passdb=\(passwords)"
        func verdict(_ lines: String...) async throws -> PasswordVerdict {
            let text = lines.joined(separator: "\n") + "\n"
            return try await PasswordScene(services: ["test": text], scratch: scratch)
                .check("secret")
        }
        let debug = "auth required pam_debug.so auth=\(name)"
        #expect(try await verdict(question, debug, Self.account) == asked)
        #expect(
            try await verdict(debug.replacing("required", with: "requisite"), Self.account)
                == unasked)
        #expect(
            try await verdict(question, "account required pam_debug.so acct=\(name)") == account)
    }
}
