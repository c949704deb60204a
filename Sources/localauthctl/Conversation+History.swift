// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import Glibc
internal import LocalAuthContract

extension Conversation {
    /// Shows what was done about a user, newest first.
    func history(of user: String, limit: UInt32) async throws(BusError) -> ExitCode {
        let entries = try await call(
            GetHistory.self, GetHistory.Arguments(user: user, limit: limit), deadline: nil,
            mayAsk: true
        ).entries
        output.result(
            .members([
                "type": "history", "user": .string(user),
                "entries": .array(entries.map { .dictionary($0) }),
            ]),
            entries.map(historyLine))
        if entries.isEmpty { output.hint("Nothing has been done yet.") }
        return .success
    }
}

/// One entry for people: what is certain first, the caller's own words last.
func historyLine(_ entry: [String: BusValue]) -> String {
    func text(_ key: HistoryKey) -> String { entry[key.rawValue]?.plainText ?? "" }
    var parts = [localTime(entry[HistoryKey.time.rawValue]), text(.kind), text(.outcome)]
    if !text(.method).isEmpty { parts.append(text(.method)) }
    if let misses = entry[HistoryKey.misses.rawValue], misses != .uint32(0) {
        parts.append("misses=\(misses.plainText)")
    }
    parts.append("uid=\(text(.callerUID))")
    if !text(.caller).isEmpty {
        // A program's name must not pass for anything else on the line.
        parts.append("\(text(.callerEvidence)) program \(JSON.string(text(.caller)).text)")
    }
    let reason = text(.reason)
    return parts.joined(separator: " ") + (reason.isEmpty ? "" : ": \(reason)")
}

/// The time in the zone of whoever looks, with the zone's offset.
private func localTime(_ value: BusValue?) -> String {
    guard case .uint64(let microseconds)? = value else { return "-" }
    var seconds = time_t(clamping: microseconds / 1_000_000)
    var parts = unsafe tm()
    // SAFETY: libc writes only what it is given, and `strftime` at most the buffer's size.
    guard unsafe localtime_r(&seconds, &parts) != nil else { return "-" }
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
        guard let start = buffer.baseAddress,
            unsafe strftime(start, buffer.count, "%Y-%m-%dT%H:%M:%S%z", &parts) > 0
        else { return "-" }
        return unsafe String(cString: start)
    }
}
