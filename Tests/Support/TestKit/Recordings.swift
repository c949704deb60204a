// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Recordings of real readers, which are no part of this package: a folder with
/// `replay/with-recording.sh` and `captures/`. They fit the libfprint that they were made with.
package enum Recordings {
    package static let folder: String =
        ProcessInfo.processInfo.environment["LOCALAUTH_SHARED"]
        ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared").path

    package static let script = folder + "/replay/with-recording.sh"

    /// What stands before a program's command line, so that it finds a recorded reader.
    package static func wrapper(_ driver: String) -> [String] { [script, driver, "--"] }

    /// A file of the recording.
    package static func file(_ driver: String, _ name: String) -> String {
        "\(folder)/captures/\(driver)/\(name)"
    }

    /// Says so on standard error when there are none: nobody is to take a skipped suite for a
    /// passed one.
    package static let areUsable: Bool = {
        let needed = ["/usr/bin/umockdev-run", script]
        guard let missing = needed.first(where: { !FileManager.default.fileExists(atPath: $0) })
        else { return true }
        let words = "SKIPPED: recorded readers, for want of \(missing) (see LOCALAUTH_SHARED)\n"
        try? FileHandle.standardError.write(contentsOf: Data(words.utf8))
        return false
    }()
}
