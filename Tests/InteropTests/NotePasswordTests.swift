// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// An application that uses `LAContext`, run by a real account with a real password, whose session has
/// a prompt.
@Suite(
    .timeLimit(.minutes(2)), .serialized,
    .enabled(if: TestAccount.isPossible, "only root can make accounts"))
struct `An application and a real password` {
    /// Runs a test with a note that the account has written, and the account's prompt.
    private func withNote(
        isEnrolled: Bool = true,
        _ body:
            @escaping @Sendable @BusQueue (PasswordStage, Pty, @BusQueue (String) throws -> Pty)
            async throws -> Void
    ) async throws {
        try await PasswordStage.with { stage in
            if isEnrolled { try await stage.enrolFinger() }
            let home = stage.scratch.file("home")
            try await stage.account.change(
                "install -d -o \(stage.account.name) -m 0700 '\(home)'")
            let prompt = try stage.localauthctl("agent")
            #expect(await prompt.shows("Serving the prompts of this session"))
            let note = { @BusQueue (command: String) in
                try stage.start("note", command.split(separator: " ").map(String.init), home: home)
            }
            #expect(await (try note("write the safe's code is 4711")).wait() == 0)
            let attributes = try FileManager.default.attributesOfItem(atPath: home + "/.note")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try await body(stage, prompt, note)
        }
    }

    @Test func `the note is shown to its writer's finger`() async throws {
        try await withNote { stage, prompt, note in
            let reading = try note("read")
            #expect(await prompt.shows("\"show your note\""))
            #expect(await reading.shows("Touch the fingerprint reader."))
            try await stage.service.storage.sendWhenOpen("SCAN other")
            #expect(await reading.shows("Not your finger. Tries left: 2."))
            try await stage.service.storage.sendWhenOpen("SCAN mine")
            #expect(await reading.shows("the safe's code is 4711"))
            #expect(await reading.wait() == 0)
        }
    }

    @Test func `and to the writer's password, at the second try`() async throws {
        try await withNote { _, prompt, note in
            let reading = try note("read")
            #expect(await reading.shows("Touch the fingerprint reader."))
            #expect(await prompt.shows("Password: "))
            prompt.type("not this one\n")
            #expect(await prompt.shows("That password is wrong"))
            #expect(await prompt.shows("Password: "))
            prompt.type(TestAccount.password + "\n")
            #expect(await reading.shows("the safe's code is 4711"))
            #expect(await reading.wait() == 0)
            #expect(!(prompt.text + reading.text).contains(TestAccount.password))
        }
    }

    @Test func `which is asked for at once where no finger is enrolled`() async throws {
        try await withNote(isEnrolled: false) { _, prompt, note in
            let reading = try note("read")
            #expect(await prompt.shows("Password: "))
            prompt.type(TestAccount.password + "\n")
            #expect(await reading.shows("the safe's code is 4711"))
            #expect(await reading.wait() == 0)
        }
    }

    @Test func `three wrong ones, or Ctrl-C, show nothing`() async throws {
        try await withNote(isEnrolled: false) { _, prompt, note in
            let guessing = try note("read")
            for _ in 1...3 {
                #expect(await prompt.shows("Password: "))
                prompt.type("wrong\n")
            }
            #expect(await guessing.shows("Application retry limit exceeded."))
            #expect(await guessing.wait() == 1)
            let canceled = try note("read")
            #expect(await prompt.shows("Password: "))
            prompt.type("\u{3}")
            #expect(await canceled.wait() == 3)
            #expect(!(guessing.text + canceled.text).contains("4711"))
        }
    }
}
