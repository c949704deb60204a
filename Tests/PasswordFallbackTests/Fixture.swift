// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import PasswordFallback
import SystemSupport
import Testing

/// Something typed, in a pipe or what a test has instead of one.
final class TypedEntry: PasswordEntry {
    let descriptor: Int32
    private let writing: Int32?

    /// What was typed. The writing end is closed, unless it is to stay open.
    init(_ text: some Sequence<UInt8>, staysOpen: Bool = false) {
        var ends: [Int32] = [-1, -1]
        // SAFETY: two numbers are written.
        let made = unsafe pipe(&ends)
        precondition(made == 0, "no descriptor left")
        let bytes = Array(text)
        // SAFETY: a pipe has room for all that a test types, so nothing waits.
        unsafe _ = write(ends[1], bytes, bytes.count)
        descriptor = ends[0]
        if !staysOpen { close(ends[1]) }
        writing = staysOpen ? ends[1] : nil
    }

    convenience init(_ text: String) { self.init(text.utf8) }

    /// Takes over a descriptor.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
        writing = nil
    }

    deinit {
        close(descriptor)
        if let writing { close(writing) }
    }
}

/// Somebody who answers questions as a test wants.
@BusQueue final class Person: PasswordConversing {
    let texts = Journal<PasswordText>()
    /// What is answered, in order; `nil` is no answer. Behind the last one, questions stay open.
    var answers: [String?] = []
    private let given = Happenings<String>()

    nonisolated init() {}

    @BusQueue func tell(_ text: PasswordText) async { texts.add(text) }

    @BusQueue func answer(to question: PasswordText) async -> (any PasswordEntry)? {
        texts.add(question)
        guard !answers.isEmpty else {
            // Until it comes, or the question is withdrawn.
            return await given.next().map { TypedEntry($0) }
        }
        return answers.removeFirst().map { TypedEntry($0) }
    }

    /// Answers the question that is open.
    func give(_ answer: String) { given.note(answer) }

    func willAnswer(_ answers: String?...) { self.answers = answers }
}

/// PAM services of a test's own, and the built program that asks them.
final class PasswordScene: Sendable {
    let scratch: Scratch
    let person = Person()
    let passwords: SystemPasswords
    let account: Account

    /// - Parameters:
    ///   - user: whose password is checked.
    ///   - services: what PAM's files say, by name; `test` is asked.
    ///   - program: checks passwords; the built one by default.
    ///   - isSet: whether the account counts as having a password.
    ///   - patience: how long the program may say nothing.
    ///   - pause: after a check that was cut short.
    ///   - scratch: the folder with the services; one of its own by default.
    /// - Throws: what kept the files from being written.
    init(
        user: String = "root", services: [String: String] = [:], program: String? = nil,
        isSet: Bool = true, patience: Duration = .seconds(60), pause: Duration = .seconds(3),
        scratch: Scratch? = nil
    ) throws {
        startBusQueue()
        self.scratch = try scratch ?? Scratch()
        for (name, text) in services { _ = try self.scratch.write(name, text) }
        var helper = SystemPasswords.Helper(
            program: program ?? productsDirectory.appending(path: "localauth-pam-helper").path,
            service: try #require(PAMServiceName("test")), directory: self.scratch.path)
        helper.patience = patience
        helper.pauseAfterCut = pause
        account = Account(
            id: try #require(UserID(4_711)), name: try #require(UserName(user)))
        passwords = SystemPasswords(
            helper: helper,
            standings: { _ in PasswordStanding(isSet: isSet, hasAccountExpired: false) },
            log: Log(topic: "test", threshold: .error))
    }

    /// The same with one service, in lines.
    convenience init(user: String = "root", _ lines: String...) throws {
        try self.init(user: user, services: ["test": lines.joined(separator: "\n") + "\n"])
    }

    func check(_ text: String) async -> PasswordVerdict { await check(TypedEntry(text)) }

    func check(_ entry: TypedEntry) async -> PasswordVerdict {
        await BusQueue.task { [self] in
            await passwords.verify(entry, of: account, with: person)
        }.value
    }

    /// A check that goes on while the test does something.
    func checking(_ text: String) -> Task<PasswordVerdict, Never> {
        let entry = TypedEntry(text)
        return BusQueue.task { [self] in
            await passwords.verify(entry, of: account, with: person)
        }
    }

    /// The programs that check passwords for this scene.
    func helpers() throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
            .filter { id in
                let line = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") ?? Data()
                return line.split(separator: 0).contains { Data($0) == Data(scratch.path.utf8) }
            }
    }
}

/// The modules of pam_wrapper: real ones, that know passwords from a file and talk a lot.
let matrix = "/usr/lib/x86_64-linux-gnu/pam_wrapper/pam_matrix.so"
let chatty = "/usr/lib/x86_64-linux-gnu/pam_wrapper/pam_chatty.so"
