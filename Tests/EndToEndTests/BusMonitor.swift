// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import TestKit

/// Sees everything that passes over a private bus, as `dbus-monitor` tells it.
final class BusMonitor {
    private let child: Child
    private let file: String
    private let scratch: Scratch

    /// Returns when it sees.
    init(_ bus: PrivateBus) async throws {
        scratch = try Scratch()
        file = scratch.file("messages")
        _ = FileManager.default.createFile(atPath: file, contents: nil)
        let output = try FileHandle(forWritingTo: URL(filePath: file))
        child = try Child(
            "/usr/bin/dbus-monitor", ["--address", bus.address, "--profile"],
            log: scratch.file("log"), output: output)
        // It becomes blind to itself by becoming a monitor: its name is lost then.
        try await wait { $0.contains("NameLost") }
    }

    deinit { child.signal(SIGKILL) }

    /// How many answers each call to `member` got, of those whose sender is `caller`; once the
    /// monitor has seen the call of the caller's that is named `last`.
    func answers(
        to member: String, from caller: String, until last: String
    ) async throws -> [Int] {
        try await wait { text in
            text.split(separator: "\n").contains { line in
                let fields = line.split(separator: "\t")
                guard fields.count > 3, let name = fields.last else { return false }
                return fields[0] == "mc" && fields[3] == caller && name == last
            }
        }
        let messages = try text().split(separator: "\n").map { $0.split(separator: "\t") }
        var calls: [Substring: Int] = [:]
        for fields in messages where fields[0] == "mc" && fields[3] == caller {
            if let name = fields.last, name == member { calls[fields[2]] = 0 }
        }
        for fields in messages where ["mr", "err"].contains(fields[0]) && fields[4] == caller {
            if let count = calls[fields[5]] { calls[fields[5]] = count + 1 }
        }
        return Array(calls.values)
    }

    private func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    private func wait(until isMet: (String) -> Bool) async throws {
        // What a child writes into a file cannot be waited for otherwise; bounded by the test's
        // time limit.
        while !isMet(try text()) { try await Task.sleep(for: .milliseconds(20)) }
    }
}
