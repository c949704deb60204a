// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import LocalAuthModel

/// Says what a test wants, at once or when it is told to.
@BusQueue package final class FakeAuthority: Authorizing {
    package nonisolated let asksForPassword: Bool
    package var decision = Decision.granted
    /// Whether questions stay open until `answer`.
    package var isHeld = false
    /// The actions that were asked for, in order.
    package let questions = Journal<Action>()
    package let forgotten = Journal<String>()
    private var held: [CheckedContinuation<Decision, Never>] = []

    package nonisolated init(asksForPassword: Bool = false) {
        self.asksForPassword = asksForPassword
    }

    @BusQueue package func decide(
        _ action: Action, for caller: Caller, interactive: Bool
    ) async -> Decision {
        questions.add(action)
        guard isHeld else { return decision }
        return await withCheckedContinuation { held.append($0) }
    }

    /// Answers every open question.
    package func answer(_ decision: Decision) {
        let open = held
        held = []
        for question in open { question.resume(returning: decision) }
    }

    @BusQueue package func forget(_ connection: String) async { forgotten.add(connection) }
}

/// Callers sit where a test puts them.
@BusQueue package final class FakeSessions: SessionWatching {
    package var presence = Presence.present
    package var session = SessionID("1")
    private var changed: (@Sendable () -> Void)?

    package nonisolated init() {}

    @BusQueue package func start(changed: @escaping @Sendable () -> Void) async {
        self.changed = changed
    }

    @BusQueue package func seating(of caller: Caller) async -> Seating {
        Seating(presence, in: session)
    }

    /// Somebody has come or gone.
    package func announceChange() { changed?() }
}

/// A machine whose lid a test moves, and that sleeps when it is told to.
@BusQueue package final class FakeMachine: MachineWatching {
    private var lid: (@Sendable (LidState) -> Void)?
    private var sleep: (@Sendable () async -> Void)?
    private var wake: (@Sendable () async -> Void)?

    package nonisolated init() {}

    @BusQueue package func start(
        lid: @escaping @Sendable (LidState) -> Void,
        sleep: @escaping @Sendable () async -> Void, wake: @escaping @Sendable () async -> Void
    ) async { (self.lid, self.sleep, self.wake) = (lid, sleep, wake) }

    package func move(_ state: LidState) { lid?(state) }

    /// Falls asleep; returns when it may.
    package func fallAsleep() async { await sleep?() }

    package func wakeUp() async { await wake?() }
}

/// Every caller's program has the name that a test gives.
@BusQueue package final class FakePrograms: ProgramLookup {
    package var program: CallerProgram?
    package nonisolated init() {}
    @BusQueue package func program(of caller: Caller) async -> CallerProgram? { program }
}

/// The accounts that a test gives.
@BusQueue package final class FakeAccounts: AccountLookup {
    package let accounts: [Account]
    /// Whose every caller is.
    package var everybody: Account?
    /// Whether look-ups stay open until `answer`.
    package var isHeld = false
    package let lookUps = Journal<UserID>()
    private var held: [CheckedContinuation<Void, Never>] = []

    package nonisolated init(_ accounts: [Account], everybody: Account?) {
        self.accounts = accounts
        self.everybody = everybody
    }

    @BusQueue package func account(id: UserID) async -> Account? {
        lookUps.add(id)
        if isHeld { await withCheckedContinuation { held.append($0) } }
        return everybody
    }

    @BusQueue package func account(name: UserName) async -> Account? {
        accounts.first { $0.name == name }
    }

    /// Answers every open look-up.
    package func answer() {
        let open = held
        held = []
        for lookUp in open { lookUp.resume() }
    }
}
