// SPDX-License-Identifier: Apache-2.0

internal import CLinux
package import DBusBinding
internal import Glibc
package import LocalAuthModel
package import SystemSupport

/// What the shadow database (shadow(5)) tells of accounts' passwords: whether there is one, and
/// whether the account has expired.
///
/// It is asked once for each account, on a thread that may block, and again when its file has
/// changed; between, answers come from memory.
@BusQueue package final class ShadowDatabase {
    /// What came of asking.
    enum Reading: Hashable, Sendable {
        /// `expiry` is the first day on which the account may not be used, counted from 1970.
        case entry(isSet: Bool, expiry: Int?)
        /// The database does not know the account; a directory server may.
        case unknown
        case failed
    }

    /// Answers from before a change are not answers to questions from after it.
    private struct Question: Hashable {
        let name: UserName
        let change: UInt64
    }

    /// No machine has more people who use it.
    private static let most = 1_024

    private let lookup: SharedLookup<Question, Reading>
    private let directory: String
    private let log: Log
    private var known: [UserName: Reading] = [:]
    /// Counts the changes that were heard of.
    private(set) var change: UInt64 = 0
    /// Not there before the first question, and where the kernel has no watch left.
    private var changes: FileChanges?
    private var isStarted = false
    private var onChange: (@Sendable () -> Void)?
    private var hasComplained = false

    package nonisolated convenience init(threads: LookupThreads, log: Log) {
        self.init(threads: threads, directory: "/etc", deadline: .seconds(5), log: log) {
            Self.find($0)
        }
    }

    nonisolated init(
        threads: LookupThreads, directory: String, deadline: Duration, log: Log,
        query: @escaping @Sendable (UserName) -> Reading
    ) {
        self.directory = directory
        self.log = log
        lookup = SharedLookup(on: threads, deadline: deadline) { query($0.name) }
    }

    /// What is known of the account's password. What could not be found out counts as set and not
    /// expired: then the check itself shows.
    package func standing(of account: Account) async -> PasswordStanding {
        watch()
        let reading =
            if let known = known[account.name] { known } else { await ask(account.name) }
        return PasswordStanding(reading, today: Int(WallClock.microseconds() / Self.day))
    }

    /// From now on `changed` is called when what was asked for may be different.
    package func tellChanges(_ changed: @escaping @Sendable () -> Void) { onChange = changed }

    private static let day: UInt64 = 86_400_000_000

    private func ask(_ name: UserName) async -> Reading {
        let question = Question(name: name, change: change)
        let reading = await lookup.ask(question) ?? .failed
        guard reading != .failed else {
            if !hasComplained { log.warning("the shadow database could not be read") }
            hasComplained = true
            return .failed
        }
        if changes != nil, question.change == change {
            if known.count >= Self.most { known = [:] }
            known[name] = reading
        }
        return reading
    }

    /// Begins to hear of changes; without that nothing is kept.
    private func watch() {
        guard !isStarted else { return }
        isStarted = true
        changes = FileChanges(of: ["shadow", "passwd", "nsswitch.conf"], in: directory)
        if changes == nil { log.warning("the shadow database cannot be watched") }
        changes?.start(on: BusQueue.executor) { [weak self] in
            BusQueue.assumeIsolated { self?.forget() }
        }
    }

    private func forget() {
        change += 1
        known = [:]
        onChange?()
    }

    private nonisolated static func find(_ name: UserName) -> Reading {
        var size = 1024
        while size <= 1 << 20 {
            let (code, reading) = unsafe withUnsafeTemporaryAllocation(
                of: CChar.self, capacity: size
            ) { buffer -> (Int32, Reading) in
                guard let start = buffer.baseAddress else { return (EINVAL, .failed) }
                // SAFETY: the entry points into the buffer, of which only a byte is looked at; the
                // hash in it is wiped before the buffer goes.
                defer { unsafe explicit_bzero(start, size) }
                var entry = unsafe spwd()
                var result: UnsafeMutablePointer<spwd>?
                let code = unsafe getspnam_r(name.rawValue, &entry, start, size, &result)
                guard code == 0 else { return (code, .failed) }
                guard unsafe result != nil else { return (0, .unknown) }
                return (
                    0,
                    .entry(
                        isSet: unsafe isSet(firstByte: entry.sp_pwdp.map { unsafe $0.pointee }),
                        expiry: unsafe entry.sp_expire < 0 ? nil : entry.sp_expire)
                )
            }
            guard code == ERANGE else { return code == ENOENT ? .unknown : reading }
            size *= 4
        }
        return .failed
    }

    /// Whether a password field can belong to a password: it is not empty, and no mark that shuts
    /// the account for passwords.
    nonisolated static func isSet(firstByte: CChar?) -> Bool {
        switch firstByte.map({ UInt8(bitPattern: $0) }) {
        case nil, 0, UInt8(ascii: "!"), UInt8(ascii: "*"): false
        default: true
        }
    }
}

extension PasswordStanding {
    init(_ reading: ShadowDatabase.Reading, today: Int) {
        switch reading {
        case .entry(let isSet, let expiry):
            self.init(isSet: isSet, hasAccountExpired: expiry.map { today >= $0 } ?? false)
        case .unknown, .failed: self.init(isSet: true, hasAccountExpired: false)
        }
    }
}
