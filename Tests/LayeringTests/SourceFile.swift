// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One Swift source of a module.
struct SourceFile {
    static let license = "// SPDX-License-Identifier: Apache-2.0"
    static let longest = 400

    let module: String
    let path: String
    let text: String

    /// The modules that it imports, with `@_exported` before those that it hands on.
    var imports: [(module: String, isExported: Bool)] {
        let line =
            #/
            ^\h* (?<attributes> (?: @\w+ (?:\([^)]*\))? \h+ )*)
            (?: (?:public|package|internal|private|fileprivate) \h+ )?
            import \h+ (?: (?:struct|class|enum|protocol|func|var|let|typealias|actor) \h+ )?
            (?<module> \w+)
            /#.anchorsMatchLineEndings()
        return text.matches(of: line).map {
            ("\($0.module)", $0.attributes.contains("@_exported"))
        }
    }

    /// What is wrong with its imports.
    /// - Parameters:
    ///   - layers: which module may import what.
    ///   - declared: what each target declares to depend on.
    /// - Returns: a sentence for each wrong import.
    func violations(layers: [String: Set<String>], declared: [String: Set<String>]) -> [String] {
        guard let allowed = layers[module] else { return ["\(path): \(module) is in no layer"] }
        return imports.flatMap { name, isExported in
            var wrongs: [String] = []
            if !allowed.contains(name) { wrongs.append("\(path): may not import \(name)") }
            if isExported, handedOn[module]?.contains(name) != true {
                wrongs.append("\(path): hands \(name) on")
            }
            return wrongs + undeclared(name, declared)
        }
    }

    /// What it imports though its target does not declare it.
    func undeclaredImports(_ declared: [String: Set<String>]) -> [String] {
        imports.flatMap { undeclared($0.module, declared) }
    }

    private func undeclared(_ name: String, _ declared: [String: Set<String>]) -> [String] {
        let isDeclared = toolchain.contains(name) || declared[module]?.contains(name) == true
        return isDeclared ? [] : ["\(path): \(module) does not declare \(name)"]
    }

    /// What is wrong with its form.
    var faults: [String] {
        var faults: [String] = []
        if !text.hasPrefix(Self.license + "\n") { faults.append("\(path): no license line") }
        let lines = text.count { $0.isNewline }
        if lines > Self.longest { faults.append("\(path): \(lines) lines") }
        return faults
    }
}

extension SourceFile {
    /// The repository's root.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The Swift sources below a folder of the repository, whose modules are its subfolders.
    /// - Parameters:
    ///   - folder: the folder, relative to the root.
    ///   - skipped: a subfolder that is none.
    /// - Returns: the files, in order.
    /// - Throws: what kept a file from being read.
    static func all(below folder: String, except skipped: String = "") throws -> [SourceFile] {
        let base = root.appending(path: folder)
        let names = try FileManager.default.subpathsOfDirectory(atPath: base.path)
        // What a documentation catalog shows is part of no module.
        let sources = names.filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }
        return try sources.sorted().compactMap { name in
            let module = name.split(separator: "/").first.map(String.init) ?? ""
            guard module != skipped else { return nil }
            let text = try String(contentsOf: base.appending(path: name), encoding: .utf8)
            return SourceFile(module: module, path: "\(folder)/\(name)", text: text)
        }
    }
}
