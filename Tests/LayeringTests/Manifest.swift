// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What `Package.swift` declares, read from its text: SwiftPM cannot be asked while it runs the
/// tests.
struct Manifest {
    /// Each target and what it declares to depend on.
    let targets: [String: Set<String>]

    /// Reads calls such as `layer("Name", ["Dependency"])` and `.systemLibrary(name: "Name")`.
    init(parsing text: String) {
        var targets: [String: Set<String>] = [:]
        let start =
            /(?:\b(?:layer|support|program|application|tests)\(|\.systemLibrary\(\s*name:)\s*"([^"]+)"/
        for match in text.matches(of: start) {
            let call = Self.rest(of: text[match.range.upperBound...])
            var dependencies: Set<String> = []
            let isLibrary = match.0.hasPrefix(".")
            if !isLibrary, let list = call.lastIndex(of: "[") {
                for name in call[list...].matches(of: /"([^"]+)"/) {
                    dependencies.insert("\(name.1)")
                }
            }
            targets["\(match.1)"] = dependencies
        }
        self.targets = targets
    }

    /// The text up to the parenthesis that closes the call.
    private static func rest(of text: Substring) -> Substring {
        var depth = 1
        for index in text.indices {
            switch text[index] {
            case "(": depth += 1
            case ")": depth -= 1
            default: break
            }
            if depth == 0 { return text[..<index] }
        }
        return text
    }

    /// The repository's own.
    static func own() throws -> Manifest {
        let file = SourceFile.root.appending(path: "Package.swift")
        return Manifest(parsing: try String(contentsOf: file, encoding: .utf8))
    }
}
