// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication

/// A note that is shown to its writer only.
struct Note {
    let file = URL.homeDirectory.appending(path: ".note")

    func write(_ text: String) throws {
        // No other account may read it, not even while it is written.
        umask(0o077)
        try Data(text.utf8).write(to: file, options: .atomic)
    }

    func read() async throws -> String {
        let context = LAContext()
        context.localizedFallbackTitle = "Use Password"
        try await context.evaluatePolicy(
            .deviceOwnerAuthentication, localizedReason: "show your note")
        return try String(contentsOf: file, encoding: .utf8)
    }
}

func show(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
}

@main struct Program {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "write": try Note().write(arguments.dropFirst().joined(separator: " "))
        case "read": print(try await Note().read())
        default: show("usage: note write TEXT... | note read")
        }
    }
}
