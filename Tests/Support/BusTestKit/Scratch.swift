// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A folder for one test, gone with it. Its path is short, because sockets are put there.
package final class Scratch: Sendable {
    package let path: String

    package init() throws {
        var template = Array("/tmp/la-XXXXXX".utf8CString)
        // SAFETY: the template is ours, NUL-terminated, and changed in place.
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let start = buffer.baseAddress else { return nil }
            return unsafe mkdtemp(start).map { unsafe String(cString: $0) }
        }
        guard let made else { throw CocoaError(.fileWriteUnknown) }
        path = made
        // Other users' processes must reach the sockets in it.
        unsafe _ = chmod(made, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of an entry.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Writes a text file and returns its path.
    package func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: file(name), atomically: false, encoding: .utf8)
        return file(name)
    }
}
