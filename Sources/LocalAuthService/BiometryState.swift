// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// Everything that is known of a user's biometry, in one place and from memory.
@BusQueue final class BiometryState {
    let readers: ReaderRegistry
    let prints: PrintIndex
    let states: DomainStates
    let lockout: LockoutKeeper
    let care: ReaderCare
    /// Where the lid is.
    private(set) var lid = LidState.open
    /// Whether the machine is asleep, or about to be.
    private(set) var isAsleep = false

    /// The prints that readers have turned out not to have in their own memory, until those change
    /// or the reader comes back.
    private(set) var lost: [ReaderID: Set<PrintID>] = [:]
    /// Called when prints are lost, or are not any more.
    var onLoss: (() -> Void)?

    private var isReady = false
    private let readiness = Waiters()
    private var reunion: Reunion?

    /// The time after a sleep in which readers come back: many lose their power, and are found
    /// anew when the machine is awake.
    private struct Reunion {
        /// What was there before and is not yet again.
        var missing: Set<ReaderKind>
        let waiters = Waiters()
    }

    /// How long readers may take to come back.
    private static let reunionTime: Duration = .seconds(3)

    init(
        readers: ReaderRegistry, prints: PrintIndex, states: DomainStates, lockout: LockoutKeeper,
        care: ReaderCare
    ) {
        self.readers = readers
        self.prints = prints
        self.states = states
        self.lockout = lockout
        self.care = care
    }

    /// The readers are known now. What is asked before waits for this, so that a daemon that was
    /// started by the question does not deny having a reader.
    func becomeReady() {
        isReady = true
        readiness.resume()
    }

    /// Returns once the readers are known.
    func waitUntilReady() async {
        await readiness.wait { isReady }
    }

    // MARK: What happens

    /// A reader came, went, or is different.
    func take(_ change: ReaderChange) {
        switch change {
        case .added(let reader): meetAgain(reader.kind)
        case .changed: break
        case .removed(let id): miss(id)
        }
        readers.take(change)
    }

    func setLid(_ lid: LidState) { self.lid = lid }

    /// The machine is about to sleep.
    func fallAsleep() {
        isAsleep = true
        let last = reunion
        reunion = Reunion(missing: [])
        last?.waiters.resume()
    }

    /// The machine is awake.
    func wakeUp() {
        isAsleep = false
        _ = BusQueue.executor.after(Self.reunionTime) { [weak self, reunion] in
            BusQueue.assumeIsolated {
                // Another sleep has another.
                guard let self, self.reunion?.waiters === reunion?.waiters, !self.isAsleep else {
                    return
                }
                self.reunion = nil
                reunion?.waiters.resume()
            }
        }
    }

    /// A reader does not have these prints.
    func noteLoss(of prints: some Sequence<PrintID>, on reader: ReaderID) {
        lost[reader, default: []].formUnion(prints)
        onLoss?()
    }

    /// A reader has this print.
    func noteGain(of print: PrintID, on reader: ReaderID) {
        if lost[reader]?.remove(print) != nil { onLoss?() }
    }

    /// A user's prints are others now.
    func forgetLosses(of user: UserName) {
        lost = lost.mapValues { $0.filter { $0.user != user } }.filter { !$0.value.isEmpty }
    }

    private func miss(_ id: ReaderID) {
        care.forget(id)
        lost[id] = nil
        guard let kind = readers.readers.first(where: { $0.id == id })?.kind else { return }
        reunion?.missing.insert(kind)
    }

    private func meetAgain(_ kind: ReaderKind) {
        reunion?.missing.remove(kind)
        reunion?.waiters.resume()
    }

    // MARK: What holds

    /// What is known of the user's biometry.
    func facts(of account: Account) async -> BiometryFacts {
        await waitUntilReady()
        states.note(account)
        let prints = await prints.prints(of: account.name)
        let standing = await lockout.standing(of: account)
        var facts = BiometryFacts(readers: readers.readers, prints: prints, lockout: standing)
        facts.lid = lid
        facts.isAsleep = isAsleep
        facts.outOfOrder = care.outOfOrder
        facts.lost = lost
        return facts
    }

    /// Returns when no reader is waited for that the last sleep took and that this user needs.
    func waitForReunion(of account: Account) async {
        while await isComingBack(for: account), let waiters = reunion?.waiters {
            await waiters.wait { reunion?.waiters !== waiters || isAsleep }
        }
    }

    /// Whether all that keeps a finger from being asked for is a reader that was here before the
    /// machine slept.
    func isComingBack(for account: Account) async -> Bool {
        guard let reunion, !isAsleep else { return false }
        let facts = await facts(of: account)
        guard !facts.lockout.isLocked, facts.usableReaders.isEmpty else { return false }
        return !reunion.missing.isDisjoint(with: (facts.prints ?? []).map(\.reader))
    }

    /// Why a reader cannot be used at this moment; `nil` when it can.
    func obstacle(to reader: ReaderID) -> ReaderFailure? {
        guard let description = readers.readers.first(where: { $0.id == reader }) else {
            return .removed
        }
        guard !isAsleep else { return .cancelled }
        return lid.leavesAccessible(description.placement) ? nil : .inaccessible
    }
}
