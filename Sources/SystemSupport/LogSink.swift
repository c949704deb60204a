// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where the process's log goes: journald takes entries with fields where standard error is its
/// own stream; anything else gets lines.
struct LogSink: ~Copyable, Sendable {
    /// The one of the process, with at most one descriptor.
    static let process = LogSink()

    private let journal: DatagramSocket?
    private let address: UnixAddress?
    private let program: String

    private init() {
        let isJournal = unsafe getenv("JOURNAL_STREAM").map { unsafe String(cString: $0) }
            .map { Self.isStream($0, descriptor: 2) }
        address = isJournal == true ? UnixAddress("/run/systemd/journal/socket") : nil
        journal = address == nil ? nil : DatagramSocket()
        program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Whether `DEVICE:INODE`, which systemd sets for the stream that it has opened to the journal,
    /// is what this descriptor is (systemd.exec(5), "$JOURNAL_STREAM"). A program that has put
    /// another file in its place must not be logged elsewhere.
    static func isStream(_ name: String, descriptor: Int32) -> Bool {
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]) else {
            return false
        }
        var status = stat()
        // SAFETY: the kernel fills the struct.
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
    }

    /// Takes one event. Without journald, or when it does not take it at once, as a line.
    func take(
        _ level: Log.Level, topic: String, text: String, id: MessageID?,
        fields: KeyValuePairs<String, String>
    ) {
        if let address, journal != nil {
            let entry = JournalEntry(
                level, topic: topic, text: text, id: id, program: program, fields: fields)
            if journal?.send(entry.bytes, to: address) == true { return }
        }
        writeLine("<\(level.rawValue)>\(topic): \(text)\n", mayWait: journal == nil)
    }

    /// One call, so that lines of several threads do not mix.
    private func writeLine(_ line: String, mayWait: Bool) {
        let bytes = Array(line.utf8)
        // SAFETY: the array outlives the calls.
        unsafe bytes.withUnsafeBytes { bytes in
            // journald's stream is a socket, on which we need not wait for a journald that hangs.
            let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
            if !mayWait {
                let sent = unsafe send(2, bytes.baseAddress, bytes.count, flags)
                if sent >= 0 || errno != ENOTSOCK { return }
            }
            _ = unsafe write(2, bytes.baseAddress, bytes.count)
        }
    }
}
