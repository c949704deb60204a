// SPDX-License-Identifier: Apache-2.0

/// One event an entry: a constant message and fields apart.
///
/// Goes to systemd's journal where there is one, else as a line to standard error, whose `<N>`
/// prefix is the priority. Never given to it: reasons, user names at the default level, templates,
/// secrets.
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

    package func error(
        _ message: StaticString, _ fields: KeyValuePairs<String, String> = [:],
        id: MessageID? = nil
    ) {
        write(.error, message, fields, id)
    }
    package func warning(
        _ message: StaticString, _ fields: KeyValuePairs<String, String> = [:],
        id: MessageID? = nil
    ) {
        write(.warning, message, fields, id)
    }
    package func notice(
        _ message: StaticString, _ fields: KeyValuePairs<String, String> = [:],
        id: MessageID? = nil
    ) {
        write(.notice, message, fields, id)
    }
    package func debug(
        _ message: StaticString, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard threshold >= .debug else { return }
        write(.debug, message, fields())
    }

    private func write(
        _ level: Level, _ message: StaticString, _ fields: KeyValuePairs<String, String>,
        _ id: MessageID? = nil
    ) {
        guard level <= threshold else { return }
        var text = "\(message)"
        for (key, value) in fields {
            text += " \(Self.quoted(key))=\(Self.quoted(Self.cut(value)))"
        }
        LogSink.process.take(level, topic: topic, text: text, id: id, fields: fields)
    }

    /// The beginning of a value that is too long for a log.
    static func cut(_ value: String) -> String {
        guard value.utf8.count > longestValue else { return value }
        var end = value.utf8.index(value.utf8.startIndex, offsetBy: longestValue)
        // Not in the middle of a character.
        while String.Index(end, within: value.unicodeScalars) == nil {
            value.utf8.formIndex(before: &end)
        }
        return String(value[..<end]) + "\u{2026}"
    }

    static let longestValue = 4_096

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
