// SPDX-License-Identifier: Apache-2.0

internal import SystemSupport

/// Says why a file is passed over: once, and again only when the file has changed.
struct PassedOver {
    private static let limit = 1_024

    private let log: Log
    private let message: StaticString
    private var seen: [String: FileIdentity?] = [:]

    init(log: Log, message: StaticString) {
        self.log = log
        self.message = message
    }

    /// Reports the file at `path` below the store's directory. That holds the user's name, so it
    /// is told at debug level only. Told always: `label`, which is without the name, and the
    /// inode number, by which an administrator finds the file (`find -inum`).
    mutating func report(
        _ failure: EntryFailure, path: String, label: String, identity: FileIdentity?
    ) {
        if let known = seen[path], known == identity { return }
        // Forgetting costs at most a second line.
        if seen.count >= Self.limit { seen.removeAll() }
        seen[path] = .some(identity)
        log.warning(
            message,
            [
                "reason": failure.reason, "file": label,
                "inode": identity.map { String($0.inode) } ?? "unknown",
            ])
        log.debug("the path of that file", ["path": path])
    }
}

extension EntryFailure {
    /// The failure in a word for the log.
    var reason: String {
        switch self {
        case .missing: "missing"
        case .refused(let refusal): refusal.rawValue
        case .failed(let code): SystemError(code: code).description
        }
    }
}
