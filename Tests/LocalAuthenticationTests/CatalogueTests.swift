// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The folder of the whole repository.
private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

/// The files of one kind in a folder.
private func files(in folder: String, _ kind: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
        at: root.appending(path: folder), includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == kind }
}

/// The texts that the module's sources have for people, as they are written there.
///
/// xgettext knows no Swift: what it does not understand it leaves out, or cuts short, and says nothing.
/// So each call must be one plain literal.
private func textsOfSources() throws -> Set<String> {
    let call = /localized\(\s*(?:"((?:[^"\\]|\\["\\nt])*)"\s*\))?/
    var texts: Set<String> = []
    for file in try files(in: "Sources/LocalAuthentication", "swift") {
        let source = try String(contentsOf: file, encoding: .utf8)
            .replacing("func localized(", with: "")
        for match in source.matches(of: call) {
            let text = try #require(
                match.1, "no plain text in \(file.lastPathComponent): \(match.0)")
            texts.insert(String(text))
        }
    }
    return texts
}

/// What a catalogue has, by its text.
private func entries(of catalogue: URL) throws -> [String: String] {
    let whole = try String(contentsOf: catalogue, encoding: .utf8)
        // A long text goes on in the next line.
        .replacing("\"\n\"", with: "")
    let pairs = whole.matches(of: /msgid "(.+)"\nmsgstr "(.*)"/)
    return Dictionary(pairs.map { (String($0.1), String($0.2)) }) { first, _ in first }
}

struct `The catalogues` {
    @Test func `have the texts of the sources, and no others`() throws {
        let texts = try textsOfSources()
        #expect(!texts.isEmpty)
        let template = try entries(of: root.appending(path: "po/localauth.pot"))
        #expect(Set(template.keys) == texts)
    }

    @Test func `translate each of them`() throws {
        let texts = try textsOfSources()
        let catalogues = try files(in: "po", "po")
        #expect(catalogues.count >= 2)
        for catalogue in catalogues {
            let translations = try entries(of: catalogue).filter { !$0.value.isEmpty }
            #expect(Set(translations.keys) == texts, "\(catalogue.lastPathComponent)")
        }
    }
}
