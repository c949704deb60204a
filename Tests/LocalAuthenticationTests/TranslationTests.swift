// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import Testing

/// The locales that the tests need, in a folder of their own; made once, since that takes seconds.
private let locales = Task {
    let scratch = try Scratch()
    for (locale, charset) in [
        ("de_DE", "UTF-8"), ("fr_FR", "UTF-8"), ("de_DE", "ISO-8859-1"),
    ] {
        // It warns of what Debian leaves out, with a status of its own.
        _ = try await run(
            "/usr/bin/localedef",
            ["-c", "-i", locale, "-f", charset, scratch.file("\(locale).\(charset)")])
    }
    return scratch
}

/// Catalogues in a folder of the test's own.
private struct Catalogues {
    private let scratch: Scratch

    init() async throws {
        scratch = try Scratch()
        try await add("de", ["Password": "Paßwort", "Cancel": "Abbrechen"])
        try await add("fr", ["Password": "Mot de passe"])
    }

    private func add(_ language: String, _ texts: [String: String]) async throws {
        let head = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
        let entries = texts.map { "msgid \"\($0.key)\"\nmsgstr \"\($0.value)\"\n" }
        let source = try scratch.write("\(language).po", ([head] + entries).joined(separator: "\n"))
        let folder = scratch.file("\(language)/LC_MESSAGES")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let made = try await run("/usr/bin/msgfmt", ["-o", folder + "/probe.mo", source])
        #expect(made.status == 0, "\(made.errors)")
    }

    private var german: URL { URL(filePath: scratch.file("de/LC_MESSAGES/probe.mo")) }

    /// Cuts the German catalogue off after so many bytes.
    func cut(to size: Int) throws {
        try Data(contentsOf: german).prefix(size).write(to: german)
    }

    /// Cuts the German catalogue off where this translation begins.
    func cut(before translation: String) throws {
        let whole = try Data(contentsOf: german)
        let place = try #require(whole.range(of: Data(translation.utf8)))
        try whole.prefix(upTo: place.lowerBound).write(to: german)
    }

    /// Runs the probe, and says what it said.
    func probe(
        _ mode: String, _ texts: [String] = [], in directory: String? = nil,
        _ environment: [String: String]
    ) async throws -> [String] {
        let english = ["LC_ALL": "", "LC_MESSAGES": "", "LANGUAGE": "", "LANG": ""]
        let result = try await run(
            productsDirectory.appending(path: "text-probe").path,
            [mode, directory ?? scratch.path] + texts,
            environment: english.merging(["LOCPATH": try await locales.value.path]) { $1 }
                .merging(environment) { $1 })
        #expect(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }
}

private let hasTools = ["/usr/bin/localedef", "/usr/bin/msgfmt", "/usr/share/i18n/locales/de_DE"]
    .allSatisfy(FileManager.default.fileExists)

@Suite(.enabled(if: hasTools, "needs the packages gettext and locales"))
struct `Translated texts` {
    @Test(arguments: [
        (["LANG": "de_DE.UTF-8"], "Paßwort"),
        (["LC_ALL": "fr_FR.UTF-8", "LANG": "de_DE.UTF-8"], "Mot de passe"),
        (["LC_MESSAGES": "fr_FR.UTF-8", "LANG": "de_DE.UTF-8"], "Mot de passe"),
        (["LANG": "de_DE.UTF-8", "LANGUAGE": "fr"], "Mot de passe"),
        // The text is UTF-8 whatever the terminal has.
        (["LANG": "de_DE.ISO-8859-1"], "Paßwort"),
        ([:], "Password"), (["LANG": "C"], "Password"), (["LANG": "C.UTF-8"], "Password"),
        (["LC_ALL": "C", "LANG": "de_DE.UTF-8", "LANGUAGE": "de"], "Password"),
        // Not installed; and nothing that could be a language.
        (["LANG": "it_IT.UTF-8"], "Password"), (["LANG": "/../%s"], "Password"),
    ]) func `are in the language of the environment`(
        environment: [String: String], expected: String
    ) async throws {
        let said = try await Catalogues().probe("texts", ["Password"], environment)
        #expect(said == [expected, "C true"])
    }

    @Test func `are themselves where nobody has translated them`() async throws {
        let catalogues = try await Catalogues()
        let german = ["LANG": "de_DE.UTF-8"]
        let texts = ["Password", "nobody knows this", "", "Cancel"]
        #expect(
            try await catalogues.probe("texts", texts, german)
                == ["Paßwort", "nobody knows this", "", "Abbrechen", "C true"])
        #expect(
            try await catalogues.probe("texts", texts, in: "/nonexistent", german)
                == texts + ["C true"])
    }

    @Test(arguments: [0, 3, 27, 40]) func `are themselves where the catalogue is damaged`(
        size: Int
    ) async throws {
        let catalogues = try await Catalogues()
        try catalogues.cut(to: size)
        let said = try await catalogues.probe("texts", ["Password"], ["LANG": "de_DE.UTF-8"])
        #expect(said == ["Password", "C true"])
    }

    // The C library goes by the lengths in the file's head, and finds nothing but zeros there.
    @Test func `are themselves where the catalogue ends before them`() async throws {
        let catalogues = try await Catalogues()
        try catalogues.cut(before: "Paßwort")
        let texts = ["Cancel", "Password"]
        let said = try await catalogues.probe("texts", texts, ["LANG": "de_DE.UTF-8"])
        #expect(said == ["Abbrechen", "Password", "C true"])
    }

    @Test func `can be had on all threads at once`() async throws {
        let said = try await Catalogues().probe(
            "threads", ["Password", "Cancel"], ["LANG": "de_DE.UTF-8"])
        #expect(said == ["done"])
    }

    @Test func `are what errors say`() async throws {
        let catalogues = try await Catalogues()
        let scratch = try Scratch()
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let built = try await run(
            root.appending(path: "scripts/messages").path, ["build", scratch.path])
        #expect(built.status == 0, "\(built.errors)")
        let english = try await catalogues.probe("errors", in: scratch.path, [:])
        #expect(english.count == 15 && english.contains("Biometry is locked out."))
        for (locale, sentence) in [
            ("de_DE.UTF-8", "Biometrie ist gesperrt."),
            ("fr_FR.UTF-8", "La biométrie est verrouillée."),
        ] {
            let said = try await catalogues.probe("errors", in: scratch.path, ["LANG": locale])
            #expect(said.contains(sentence))
            // No sentence is left as it is.
            #expect(said.count == 15 && Set(said).isDisjoint(with: english), "\(said)")
        }
    }
}
