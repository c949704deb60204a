// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// Keeps each user's misses: in memory for quick answers, on disk before anything is told.
@BusQueue final class LockoutKeeper {
    private enum Entry {
        case record(LockoutRecord)
        /// There is something that cannot be read: locked.
        case unreadable
        /// A miss could not be written down: locked, which is still to be written. Until it is, this
        /// is the only place that knows.
        case unwritten(LockoutRecord)
    }

    /// Called when a user's lockout begins or ends.
    var onChange: ((Account, LockoutStanding) -> Void)?

    private let store: any LockoutStoring
    private let rules: LockoutRules
    private let boot: BootID
    private let retryDelay: Duration
    private let log: Log
    private var entries: [Account: Entry] = [:]
    private var wakeUps: [Account: PollExecutor.Token] = [:]
    /// Those who wait until an earlier change is written; absent while nothing is being changed.
    private var changes: [Account: [CheckedContinuation<Void, Never>]] = [:]

    /// After a failed write, `retryDelay` later the next is tried.
    init(
        store: any LockoutStoring, rules: LockoutRules, boot: BootID,
        retryDelay: Duration = .seconds(10), log: Log
    ) {
        self.store = store
        self.rules = rules
        self.boot = boot
        self.retryDelay = retryDelay
        self.log = log
    }

    /// Whether everything is on disk. While it is not, to leave would be to forget a lockout.
    var isWritten: Bool {
        entries.values.allSatisfy { if case .unwritten = $0 { false } else { true } }
    }

    /// What holds for the user now.
    func standing(of account: Account) async -> LockoutStanding {
        standing(await entry(of: account))
    }

    /// Charges a miss. When this returns, it is on disk, or the user is locked.
    func charge(_ account: Account) async -> LockoutStanding {
        await beginChange(of: account)
        defer { endChange(of: account) }
        let entry = await entry(of: account)
        guard case .record(let old) = entry else { return standing(entry) }
        var record = old.settled(rules, at: now, boot: boot)
        record.charge(rules, at: now, boot: boot)
        return await replace(entry, with: record, for: account)
    }

    /// Forgets the misses after a match; false when the user is locked, which no finger ends: the
    /// last miss may have been another evaluation's, found while its reader was being stopped.
    func clearAfterMatch(_ account: Account) async throws(StorageFailure) -> Bool {
        await beginChange(of: account)
        defer { endChange(of: account) }
        let entry = await entry(of: account)
        guard !standing(entry).isLocked else { return false }
        try await clear(entry, of: account)
        return true
    }

    /// Forgets the misses and ends a lockout: after the right password, or by an administrator.
    /// - Throws: when that could not be written down; then nothing has changed.
    func clear(_ account: Account) async throws(StorageFailure) {
        await beginChange(of: account)
        defer { endChange(of: account) }
        try await clear(await entry(of: account), of: account)
    }

    private func clear(_ entry: Entry, of account: Account) async throws(StorageFailure) {
        if case .record(let record) = entry, record.isClear { return }
        try await store.write(LockoutRecord(), for: account)
        set(.record(LockoutRecord()), after: entry, for: account)
    }

    private func replace(
        _ entry: Entry, with record: LockoutRecord, for account: Account
    ) async -> LockoutStanding {
        // On disk first: whoever asks meanwhile is told the older count, and no crash can bring
        // back one that is lower than somebody was told.
        do throws(StorageFailure) {
            try await store.write(record, for: account)
            return set(.record(record), after: entry, for: account)
        } catch {
            log.error(
                "a miss could not be written down: locked",
                ["uid": "\(account.id.rawValue)", "error": "\(error)"])
            var locked = record
            while !locked.standing(rules, at: now, boot: boot).isLocked {
                locked.charge(rules, at: now, boot: boot)
            }
            planWrite(for: account)
            return set(.unwritten(locked), after: entry, for: account)
        }
    }

    /// Tries again to write down what could not be written.
    private func planWrite(for account: Account) {
        _ = BusQueue.executor.after(retryDelay) { [weak self] in
            BusQueue.task { await self?.writeAgain(for: account) }
        }
    }

    private func writeAgain(for account: Account) async {
        await beginChange(of: account)
        defer { endChange(of: account) }
        guard case .unwritten(let record)? = entries[account] else { return }
        do throws(StorageFailure) {
            try await store.write(record, for: account)
            set(.record(record), after: .unwritten(record), for: account)
        } catch {
            planWrite(for: account)
        }
    }

    @discardableResult
    private func set(
        _ entry: Entry, after old: Entry, for account: Account
    ) -> LockoutStanding {
        entries[account] = entry
        awaitEnd(for: account)
        let standing = standing(entry)
        if self.standing(old).isLocked != standing.isLocked { tell(standing, for: account) }
        return standing
    }

    private func tell(_ standing: LockoutStanding, for account: Account) {
        log.notice(
            "lockout changed",
            ["uid": "\(account.id.rawValue)", "locked": "\(standing.isLocked)"],
            id: .lockoutChanged)
        onChange?(account, standing)
    }

    /// Has the end of a timed lockout told when it comes.
    private func awaitEnd(for account: Account) {
        if let token = wakeUps.removeValue(forKey: account) { BusQueue.executor.cancelTimer(token) }
        guard let entry = entries[account], case .locked(let wait?) = standing(entry) else {
            return
        }
        wakeUps[account] = BusQueue.executor.after(wait) { [weak self] in
            BusQueue.assumeIsolated {
                guard let self, let entry = self.entries[account] else { return }
                self.wakeUps[account] = nil
                let standing = self.standing(entry)
                guard !standing.isLocked else { return self.awaitEnd(for: account) }
                self.tell(standing, for: account)
            }
        }
    }

    /// Changes of a user's record are made one after the other, so that none is lost and memory
    /// and disk agree.
    private func beginChange(of account: Account) async {
        await withCheckedContinuation { continuation in
            guard changes[account] != nil else {
                changes[account] = []
                return continuation.resume()
            }
            changes[account]?.append(continuation)
        }
    }

    private func endChange(of account: Account) {
        guard changes[account]?.isEmpty == false else {
            changes[account] = nil
            return
        }
        changes[account]?.removeFirst().resume()
    }

    private func entry(of account: Account) async -> Entry {
        if let entry = entries[account] { return entry }
        let reading = await store.read(for: account)
        // Somebody else may have read it meanwhile, and even charged a miss.
        if let entry = entries[account] { return entry }
        let entry: Entry =
            switch reading {
            case .none: .record(LockoutRecord())
            case .record(let record): .record(record)
            case .unreadable: .unreadable
            }
        entries[account] = entry
        awaitEnd(for: account)
        return entry
    }

    private func standing(_ entry: Entry) -> LockoutStanding {
        switch entry {
        case .record(let record): record.standing(rules, at: now, boot: boot)
        case .unreadable, .unwritten: .locked(for: nil)
        }
    }

    private var now: BootTime { BootTime(microseconds: BootClock.microseconds()) }
}
