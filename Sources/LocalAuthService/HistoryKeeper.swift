// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// Keeps each user's trail of what was done about it.
///
/// Entries are noted when the answer has been given, and written after that: a user's next ones
/// together when the write before them is done. So no answer waits for the disk, and a busy caller
/// causes no more than one write at a time.
@BusQueue final class HistoryKeeper {
    /// Somebody who waits for writes to be done.
    private struct Waiter {
        let account: Account
        /// How many writes of the account's trail there are still to be.
        var writes: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private let store: any HistoryStoring
    private let log: Log
    /// Something to be written, and what its caller's program is called, which may still be looked
    /// up.
    private struct Noted {
        let entry: HistoryEntry
        let program: Task<CallerProgram?, Never>?
    }

    /// What is not being written yet, newest first. A user has a list here, empty or not, as long
    /// as its trail is being written.
    private var pending: [Account: [Noted]] = [:]
    private var waiting: [Waiter] = []
    private var isFailing = false

    init(store: any HistoryStoring, log: Log) {
        self.store = store
        self.log = log
    }

    var isIdle: Bool { pending.isEmpty }

    func note(
        _ entry: HistoryEntry, named program: Task<CallerProgram?, Never>?,
        about account: Account
    ) {
        let noted = Noted(entry: entry, program: program)
        if let entries = pending[account] {
            pending[account] = Array(([noted] + entries).prefix(HistoryEntry.limit))
            return
        }
        pending[account] = [noted]
        BusQueue.task { await self.write(account) }
    }

    /// The newest entries, also those that were noted before and are not written yet; 0 is all.
    func entries(about account: Account, limit: UInt32) async -> [HistoryEntry] {
        await waitUntilWritten(account)
        let entries = await store.history(of: account)
        return limit == 0 ? entries : Array(entries.prefix(Int(limit)))
    }

    /// Returns when everything that has been noted is written.
    func waitUntilWritten() async {
        for account in Array(pending.keys) { await waitUntilWritten(account) }
    }

    /// What comes later is not waited for, so a busy caller keeps nobody waiting.
    private func waitUntilWritten(_ account: Account) async {
        await withCheckedContinuation { continuation in
            guard let entries = pending[account] else { return continuation.resume() }
            waiting.append(
                Waiter(
                    account: account, writes: entries.isEmpty ? 1 : 2, continuation: continuation))
        }
    }

    private func write(_ account: Account) async {
        while let noted = pending[account], !noted.isEmpty {
            pending[account] = []
            var entries: [HistoryEntry] = []
            for item in noted {
                var entry = item.entry
                entry.name(await item.program?.value)
                entries.append(entry)
            }
            do throws(StorageFailure) {
                try await store.add(entries, for: account)
                isFailing = false
            } catch {
                // Once, until it works again.
                if !isFailing {
                    log.warning("the history could not be written", ["error": "\(error)"])
                }
                isFailing = true
            }
            for index in waiting.indices where waiting[index].account == account {
                waiting[index].writes -= 1
            }
            resume { $0.account == account && $0.writes <= 0 }
        }
        pending[account] = nil
        // The last write may have come sooner than they counted on.
        resume { $0.account == account }
    }

    private func resume(where isDone: (Waiter) -> Bool) {
        let done = waiting.filter(isDone)
        waiting.removeAll(where: isDone)
        for waiter in done { waiter.continuation.resume() }
    }
}

extension HistoryKeeper {
    /// Notes an evaluation that has its answer.
    func note(
        _ request: EvaluationRequest, of account: Account, by caller: Caller,
        named program: Task<CallerProgram?, Never>?,
        result: Result<EvaluationSuccess, EvaluationError>, misses: UInt32
    ) {
        let method: String
        let outcome: String
        switch result {
        case .success(let success): (method, outcome) = (success.method.rawValue, "success")
        case .failure(let error): (method, outcome) = ("", error.outcome)
        }
        note(
            HistoryEntry(
                .evaluate, at: WallClock.microseconds(), by: caller.account.id,
                reason: request.reason.text, policy: request.policy.rawValue, method: method,
                outcome: outcome, misses: misses),
            named: program, about: account)
    }

    /// Does work on a user's prints or lockout, and notes what the caller is told of it.
    func noting<T>(
        _ kind: HistoryEntry.Kind, of account: Account, by call: ManagementCall,
        _ work: () async throws(ManagementError) -> T
    ) async throws(ManagementError) -> T {
        func note(_ error: ManagementError?) {
            self.note(
                HistoryEntry(
                    kind, at: WallClock.microseconds(), by: call.caller.account.id,
                    outcome: outcome(error.map(call.told)?.busError)),
                named: call.program, about: account)
        }
        do throws(ManagementError) {
            let result = try await work()
            note(nil)
            return result
        } catch {
            note(error)
            throw error
        }
    }

    /// The last part of an error's name; without one, `success`.
    private func outcome(_ error: BusError?) -> String {
        guard let error else { return "success" }
        return error.name.rawValue.split(separator: ".").last.map(String.init) ?? ""
    }
}
