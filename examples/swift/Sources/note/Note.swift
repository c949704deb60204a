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
        _ = try await context.evaluate(
            .deviceOwnerAuthentication, localizedReason: "show your note", onEvent: tell)
        return try String(contentsOf: file, encoding: .utf8)
    }
}

/// What the user is to do, where no prompt of the desktop's says so.
func tell(_ event: LAEvaluationEvent) {
    switch event {
    case .progress(.waitingForFinger): show("Touch the fingerprint reader.")
    case .retry(.noMatch, let attemptsLeft): show("Not your finger. Tries left: \(attemptsLeft).")
    case .retry: show("That could not be read. Touch it again.")
    case .lockout(isLockedOut: true, _, _): show("Too many wrong fingers.")
    default: break
    }
}

func show(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
}

@main struct Program {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch arguments.first {
            case "write": try Note().write(arguments.dropFirst().joined(separator: " "))
            case "read": print(try await Note().read())
            default: show("usage: note write TEXT... | note read")
            }
        } catch LAError.userCancel, LAError.appCancel {
            exit(3)
        } catch {
            show(error.localizedDescription)
            exit(1)
        }
    }
}
