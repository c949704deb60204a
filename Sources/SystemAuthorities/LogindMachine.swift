// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import LocalAuthModel
package import SystemSupport

/// Hears from logind of the lid and of sleep, and has it wait for us before the machine sleeps.
///
/// Without a word of logind's the lid is open and the machine is awake. A machine that is said to
/// go to sleep and never said to be awake again is asked about every 30 seconds of being awake.
@BusQueue package final class LogindMachine: MachineWatching {
    private let logind: RemoteService
    private let inhibitor: SleepInhibitor
    private let log: Log
    private let patience: Duration

    private var onLid: (@Sendable (LidState) -> Void)?
    private var onSleep: (@Sendable () async -> Void)?
    private var onWake: (@Sendable () async -> Void)?

    /// What logind said last; `isAsleep` is what was told on.
    private var mustSleep = false
    private var isAsleep = false
    private var isSettling = false
    /// Counts logind's words of sleep: an answer that was asked for before one may be older.
    private var words: UInt64 = 0
    private var doubt: PollExecutor.Token?

    private var lid: LidState?
    private var lidValues: [String: BusValue] = [:]
    /// What was heard of the lid since it was asked for, which is newer than the answer.
    private var newerLidValues: [String: BusValue] = [:]
    private var isLooking = false
    private var mustLookAgain = false

    /// Listens from the beginning, so that nothing is missed between the first look and the
    /// first signal.
    /// - Parameters:
    ///   - connection: the system bus.
    ///   - log: where failures go.
    ///   - patience: after how long a machine that was never said to be awake is asked about.
    package init(on connection: BusConnection, log: Log, patience: Duration = .seconds(30)) {
        self.log = log
        self.patience = patience
        logind = RemoteService(Logind.name, on: connection)
        inhibitor = SleepInhibitor(logind)
        inhibitor.onFailure = { [log] error in
            log.warning("logind does not wait for us before sleep", ["error": "\(error)"])
        }
        logind.onOwnerChange = { [weak self] owner in self?.noteOwner(owner) }
        logind.onSignal(Logind.PrepareForSleep.self) { [weak self] start, path in
            if path == Logind.managerPath { self?.note(mustSleep: start.value) }
        }
        logind.onSignal(PropertiesChanged.self) { [weak self] arguments, path in
            guard path == Logind.managerPath,
                arguments.interface == Logind.manager.rawValue
            else { return }
            self?.noteLid(arguments)
        }
    }

    @BusQueue package func start(
        lid: @escaping @Sendable (LidState) -> Void,
        sleep: @escaping @Sendable () async -> Void, wake: @escaping @Sendable () async -> Void
    ) async {
        (onLid, onSleep, onWake) = (lid, sleep, wake)
        await logind.findOwner()
        if logind.owner == nil {
            log.warning("logind is not there: neither lid nor sleep will be known")
        }
        await begin()
    }

    /// Another logind knows nothing of what its forerunner was asked.
    private func noteOwner(_ owner: UniqueName?) {
        words += 1
        inhibitor.release()
        (lidValues, newerLidValues) = ([:], [:])
        if owner == nil { mustSleep = false }
        // Before `start` there is nobody to tell.
        if onLid != nil { BusQueue.task { await self.begin() } }
    }

    private func begin() async {
        if logind.owner != nil { await look() }
        tellLid()
        if logind.owner != nil, !mustSleep, !isAsleep { inhibitor.take() }
        await settle()
    }

    /// Asks for what holds now, once at a time.
    private func look() async {
        mustLookAgain = isLooking
        guard !isLooking else { return }
        isLooking = true
        repeat {
            mustLookAgain = false
            await lookOnce()
        } while mustLookAgain
        isLooking = false
    }

    private func lookOnce() async {
        let (owner, asked) = (logind.owner, words)
        newerLidValues = [:]
        let values: [String: BusValue]
        do throws(BusError) {
            values = try await logind.call(
                GetAllProperties.self, Single(Logind.manager.rawValue), at: Logind.managerPath,
                deadline: .seconds(2)
            ).value
        } catch {
            return log.warning("logind does not tell of lid and sleep", ["error": "\(error)"])
        }
        guard owner == logind.owner else { return }
        noteLidValues(values.merging(newerLidValues) { $1 })
        let isPreparing = values["PreparingForSleep"] == .bool(true)
        if asked == words, isPreparing != mustSleep { note(mustSleep: isPreparing) }
    }

    // MARK: Sleep

    private func note(mustSleep: Bool) {
        words += 1
        self.mustSleep = mustSleep
        if mustSleep {
            inhibitor.releaseSoon()
        } else {
            inhibitor.keep()
            // Refused in the sleep window, or given up without our having been asleep.
            if !isAsleep { inhibitor.take() }
        }
        BusQueue.task { await self.settle() }
    }

    /// Tells on what logind said, one word at a time.
    private func settle() async {
        guard !isSettling, let onSleep, let onWake else { return }
        isSettling = true
        while isAsleep != mustSleep {
            isAsleep = mustSleep
            if isAsleep {
                await onSleep()
                inhibitor.release()
                scheduleDoubt()
            } else {
                cancelDoubt()
                if logind.owner != nil { inhibitor.take() }
                await onWake()
            }
        }
        isSettling = false
    }

    private func scheduleDoubt() {
        cancelDoubt()
        doubt = BusQueue.executor.after(patience) {
            BusQueue.task { await self.resolveDoubt() }
        }
    }

    private func cancelDoubt() {
        if let doubt { BusQueue.executor.cancelTimer(doubt) }
        doubt = nil
    }

    /// The word that the machine is awake can get lost with the logind that was to say it.
    private func resolveDoubt() async {
        doubt = nil
        let asked = words
        var isOver = false
        do throws(BusError) {
            let property = GetProperty.Arguments(
                interface: Logind.manager.rawValue, property: "PreparingForSleep")
            isOver =
                try await logind.call(
                    GetProperty.self, property, at: Logind.managerPath, deadline: .seconds(5)
                ).value == .bool(false)
        } catch {
            isOver = logind.owner == nil
        }
        if asked == words, isOver { note(mustSleep: false) }
        if mustSleep, isAsleep, doubt == nil { scheduleDoubt() }
    }

    // MARK: Lid

    private func noteLid(_ change: PropertiesChanged.Arguments) {
        let names: Set = ["LidClosed", "Docked"]
        let changed = change.changed.filter { names.contains($0.key) }
        guard !changed.isEmpty || !names.isDisjoint(with: change.invalidated) else { return }
        newerLidValues.merge(changed) { $1 }
        noteLidValues(lidValues.merging(changed) { $1 })
        guard onLid != nil else { return }
        tellLid()
        // logind does not tell of each dock; with the lid is when it matters.
        BusQueue.task {
            await self.look()
            self.tellLid()
        }
    }

    private func noteLidValues(_ values: [String: BusValue]) {
        lidValues = values.filter { $0.key == "LidClosed" || $0.key == "Docked" }
    }

    private func tellLid() {
        let now = LidState(
            isClosed: lidValues["LidClosed"] == .bool(true),
            isDocked: lidValues["Docked"] == .bool(true))
        guard now != lid else { return }
        lid = now
        onLid?(now)
    }
}
