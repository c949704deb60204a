// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// Why there is nobody behind a connection to act for.
enum CallerFailure: Error, Hashable, Sendable {
    /// The connection has left the bus, or the bus did not say whose it is.
    case gone
    /// Its user has no account here.
    case noAccount
}

/// Who is behind each connection that has called, kept until the connection ends.
@BusQueue final class CallerRegistry {
    private typealias Waiter = CheckedContinuation<Result<Caller, CallerFailure>, Never>

    private enum Entry {
        case known(Caller)
        /// Being looked up; who waits for it, in the order of their calls. Replaced by nothing
        /// when the connection ends meanwhile.
        case asked([Waiter])
    }

    private let connection: BusConnection
    private let accounts: any AccountLookup
    private let programs: any ProgramLookup
    private var entries: [UniqueName: Entry] = [:]
    private static let deadline: Duration = .seconds(5)

    init(
        on connection: BusConnection, accounts: any AccountLookup, programs: any ProgramLookup
    ) {
        self.connection = connection
        self.accounts = accounts
        self.programs = programs
    }

    /// Whether the connection is still there, of those that were looked up.
    func isPresent(_ caller: Caller) -> Bool {
        UniqueName(caller.connection).map { entries[$0] != nil } ?? false
    }

    /// Who is behind a connection. A failed look-up is nobody, never root. Calls of one connection
    /// that wait for it go on in the order in which they came.
    func caller(_ name: UniqueName) async throws(CallerFailure) -> Caller {
        if case .known(let caller) = entries[name] { return caller }
        let result = await withCheckedContinuation { wait($0, for: name) }
        return try result.get()
    }

    /// Begins to find out what a caller's program is called: at the arrival of a call, for later
    /// the process may execute something else.
    func program(of caller: Caller) -> Task<CallerProgram?, Never> {
        BusQueue.task { await self.programs.program(of: caller) }
    }

    /// The connection has ended; nothing of it is kept.
    func forget(_ name: UniqueName) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        if case .asked(let waiters) = entry {
            for waiter in waiters { waiter.resume(returning: .failure(.gone)) }
        }
    }

    private func wait(_ waiter: Waiter, for name: UniqueName) {
        if case .asked(let waiters) = entries[name] {
            entries[name] = .asked(waiters + [waiter])
            return
        }
        entries[name] = .asked([waiter])
        BusQueue.task { await self.answer(name, await self.ask(name)) }
    }

    /// Tells those who wait. Only when all have gone on is the caller known, so that a later call
    /// cannot overtake an earlier one.
    private func answer(_ name: UniqueName, _ result: Result<Caller, CallerFailure>) async {
        // If the connection ended meanwhile, `forget` has taken the entry out, and what was found
        // is of somebody who is not there any more.
        while case .asked(let waiters) = entries[name], !waiters.isEmpty {
            entries[name] = .asked([])
            for waiter in waiters { waiter.resume(returning: result) }
            await withCheckedContinuation { turn in BusQueue.post { turn.resume() } }
        }
        if case .asked = entries[name] { entries[name] = (try? result.get()).map { .known($0) } }
    }

    private func ask(_ name: UniqueName) async -> Result<Caller, CallerFailure> {
        let credentials: PeerCredentials
        do throws(BusError) {
            credentials = try await connection.credentials(of: name, deadline: Self.deadline)
        } catch {
            return .failure(.gone)
        }
        guard let id = UserID(credentials.userID), let account = await accounts.account(id: id)
        else { return .failure(.noAccount) }
        return .success(
            Caller(
                connection: name.rawValue, account: account, process: CallerProcess(credentials)))
    }
}
