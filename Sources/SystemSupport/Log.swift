// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One event a line on standard error: a constant message and fields apart.
///
/// systemd's journal reads the `<N>` prefix as the priority. Never given to it: reasons, user
/// names at the default level, templates, secrets.
package struct Log: Sendable {
    package enum Level: Int, Comparable, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case debug = 7
        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    private let topic: String
    private let threshold: Level

    /// A log whose events below `threshold` are dropped.
    package init(topic: String, threshold: Level = .notice) {
        self.topic = topic
        self.threshold = threshold
    }

    /// The same log under another topic.
    package func topic(_ topic: String) -> Log { Log(topic: topic, threshold: threshold) }

    package func error(_ message: StaticString, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.error, message, fields)
    }
    package func warning(_ message: StaticString, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.warning, message, fields)
    }
    package func notice(_ message: StaticString, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.notice, message, fields)
    }
    package func debug(
        _ message: StaticString, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard threshold >= .debug else { return }
        write(.debug, message, fields())
    }

    private func write(
        _ level: Level, _ message: StaticString, _ fields: KeyValuePairs<String, String>
    ) {
        guard level <= threshold else { return }
        var line = "<\(level.rawValue)>\(topic): \(message)"
        for (key, value) in fields { line += " \(key)=\(Self.quoted(value))" }
        line += "\n"
        let bytes = Array(line.utf8)
        // One write, so that lines of several threads do not mix.
        // SAFETY: the array outlives the call.
        unsafe bytes.withUnsafeBytes { _ = unsafe Glibc.write(2, $0.baseAddress, $0.count) }
    }

    /// A value on one line, whatever it holds: a field must not be able to forge a line.
    static func quoted(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 }
        if isPlain && !value.isEmpty { return value }
        var text = "\""
        for scalar in value.unicodeScalars {
            let mustEscape =
                scalar.value < 0x20 || scalar.value == 0x22 || scalar.value == 0x5c
                || scalar.value >= 0x7f
            text += mustEscape ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return text + "\""
    }
}
