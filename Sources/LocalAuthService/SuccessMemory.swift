// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// Remembers each connection's successes for as long as they could be accepted once more: until it
/// ends, the machine sleeps, its session is left or locked, or the prints change.
@BusQueue final class SuccessMemory {
    private struct Entry {
        let caller: Caller
        /// The newest first; one of each method for each user.
        var successes: [PastSuccess]
        /// Until when its program has said that it may ask for them again.
        var wantedUntil = BootTime(microseconds: 0)
        /// Counts the times at which the caller may have lost its place. As long as it is not
        /// known whether it has, nothing is accepted.
        var doubts: UInt64 = 0
        var isDoubtful = false
    }

    /// More users than anybody asks about over one connection.
    private static let mostEach = 16

    private let gate: Gate
    private var entries: [String: Entry] = [:]

    init(gate: Gate) { self.gate = gate }

    /// Whether nobody has said that a success may still be wanted.
    var isIdle: Bool {
        let now = now
        return entries.values.allSatisfy { $0.successes.isEmpty || $0.wantedUntil <= now }
    }

    /// Remembers a success, which its caller may want again for so long: it accepts one that old.
    func remember(_ success: PastSuccess, of caller: Caller, wanted duration: Duration) {
        guard success.method != .reused, gate.isStillThere(caller) else { return }
        var entry = entries[caller.connection] ?? Entry(caller: caller, successes: [])
        entry.successes.removeAll {
            $0.account == success.account && $0.method == success.method
        }
        entry.successes = Array(([success] + entry.successes).prefix(Self.mostEach))
        entry.wantedUntil = max(entry.wantedUntil, success.at + duration)
        entries[caller.connection] = entry
    }

    /// The newest success of the caller that is good enough.
    func success(
        of caller: Caller, for account: Account, under policy: Policy, within duration: Duration
    ) -> PastSuccess? {
        guard let entry = entries[caller.connection], !entry.isDoubtful else { return nil }
        let now = now
        return entry.successes.filter {
            $0.counts(for: account, under: policy, within: duration, at: now)
        }.max { $0.at < $1.at }
    }

    /// The connection has ended.
    func forget(_ connection: UniqueName) { entries[connection.rawValue] = nil }

    /// The prints of a user have changed.
    func forget(_ user: UserName) {
        for connection in entries.keys {
            entries[connection]?.successes.removeAll { $0.account.name == user }
        }
    }

    /// The machine sleeps.
    func forgetAll() { entries = [:] }

    /// Somebody may not sit at the machine any more; who does not is forgotten, even if it is back
    /// by the time of its next call.
    func presenceChanged() {
        for connection in entries.keys {
            entries[connection]?.isDoubtful = true
            entries[connection]?.doubts += 1
            guard let entry = entries[connection] else { continue }
            BusQueue.task { await self.recheck(entry.caller, entry.doubts) }
        }
    }

    private var now: BootTime { BootTime(microseconds: BootClock.microseconds()) }

    private func recheck(_ caller: Caller, _ doubts: UInt64) async {
        do throws(EvaluationError) {
            try await gate.requirePresence(of: caller)
            guard entries[caller.connection]?.doubts == doubts else { return }
            entries[caller.connection]?.isDoubtful = false
        } catch {
            entries[caller.connection] = nil
        }
    }
}
