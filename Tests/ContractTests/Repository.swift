// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationXML

/// The files of the repository that are installed.
enum Repository {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func file(_ path: String) -> URL { root.appending(path: path) }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: file(path), encoding: .utf8)
    }

    /// The files in a folder with this ending, in order.
    static func files(in folder: String, ending: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(folder).path)
            .filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }

    /// The root element of an XML file.
    static func xml(_ path: String) throws -> XMLElement {
        try root(of: XMLDocument(contentsOf: file(path)))
    }

    static func root(of document: XMLDocument) throws -> XMLElement {
        guard let root = document.rootElement() else { throw CocoaError(.fileReadCorruptFile) }
        return root
    }
}

extension XMLElement {
    var childElements: [XMLElement] { (children ?? []).compactMap { $0 as? XMLElement } }

    /// This element and all below it.
    var all: [XMLElement] { [self] + childElements.flatMap(\.all) }

    /// The children of this name.
    func children(_ name: String) -> [XMLElement] { childElements.filter { $0.name == name } }

    subscript(attribute: String) -> String? { self.attribute(forName: attribute)?.stringValue }

    /// The text in it, without white space around it.
    var text: String {
        (stringValue ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A key file of systemd's or D-Bus's: `key=value` lines below `[section]` lines.
struct UnitFile {
    private var values: [String: [String]] = [:]

    init(_ path: String) throws {
        var section = ""
        for line in try Repository.text(path).split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("[") {
                section = line.trimmingCharacters(in: ["[", "]"])
            } else if let sign = line.firstIndex(of: "=") {
                let key = "\(section)/\(line[..<sign])"
                values[key, default: []].append(String(line[line.index(after: sign)...]))
            }
        }
    }

    /// Every value of `Section/Key`.
    subscript(key: String) -> [String] { values[key] ?? [] }
}
