// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// What the kernel tells of a daemon's process.
package struct DaemonProcess {
    private let folder: String

    package init(_ id: pid_t) { folder = "/proc/\(id)" }

    /// The names of its threads. One can end while we look.
    package func threads() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder + "/task").compactMap { task in
            try? String(contentsOfFile: "\(folder)/task/\(task)/comm", encoding: .utf8)
                .trimmingCharacters(in: .newlines)
        }
    }

    /// The threads without those that look things up, of which there are more for as long as they
    /// are needed.
    package func lastingThreads() throws -> [String] { try threads().filter { $0 != "lookup" } }

    /// Its open descriptors, without the one that each of those threads has.
    package func lastingDescriptors() throws -> Int {
        let all = try FileManager.default.contentsOfDirectory(atPath: folder + "/fd").count
        return try all - threads().count { $0 == "lookup" }
    }

    /// The resident memory, in KiB.
    package func residentKiB() throws -> Int {
        let status = try String(contentsOfFile: folder + "/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { $0.split(separator: " ").dropFirst().first }
            .flatMap { Int($0) } ?? 0
    }

    /// How many children its first thread has.
    package func children() throws -> Int {
        let id = URL(filePath: folder).lastPathComponent
        let list = try String(contentsOfFile: "\(folder)/task/\(id)/children", encoding: .utf8)
        return list.split(separator: " ").count
    }
}
