// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import LocalAuthModel
package import SystemSupport

/// Asks logind where a caller sits, and remembers it until logind says that something changed.
///
/// An unreachable logind means that nobody is present.
@BusQueue package final class LogindSessions: SessionWatching {
    private let logind: RemoteService
    private let log: Log
    private var known: [String: Seating] = [:]
    private var open = OpenQuestions()
    private var epoch: UInt64 = 0
    private var onChange: (@Sendable () -> Void)?
    private static let deadline: Duration = .seconds(5)

    /// Listens from the beginning, so that nothing is kept that could have changed unheard.
    package init(on connection: BusConnection, log: Log) {
        self.log = log
        logind = RemoteService(Logind.name, on: connection)
        logind.onOwnerChange = { [weak self] _ in self?.noteChange() }
        logind.onSignal(PropertiesChanged.self) { [weak self] arguments, _ in
            let isAboutPresence =
                arguments.interface == Logind.session || arguments.interface == Logind.user
            if isAboutPresence { self?.noteChange() }
        }
        logind.onSignal(Logind.SessionNew.self) { [weak self] _, _ in self?.noteChange() }
        logind.onSignal(Logind.SessionRemoved.self) { [weak self] _, _ in self?.noteChange() }
        connection.watchPeers { [weak self] name in
            self?.known[name.rawValue] = nil
            self?.open.noteGone(name.rawValue)
        }
    }

    @BusQueue package func start(changed: @escaping @Sendable () -> Void) async {
        onChange = changed
        await logind.findOwner()
    }

    @BusQueue package func seating(of caller: Caller) async -> Seating {
        // Whoever holds the connection of a process that has ended, nobody knows where.
        guard caller.process?.hasEnded != true else { return Seating(.absent) }
        if let seating = known[caller.connection] { return seating }
        let asked = epoch
        open.begin(caller.connection)
        let seating = await lookUp(caller)
        let isPresent = seating.presence == .present
        let isSame = isPresent ? await logind.connection.isStillThere(caller) : true
        let hasStayed = open.end(caller.connection)
        // Not kept if something changed meanwhile, or if changes could not be heard of.
        if isSame, hasStayed, asked == epoch, seating.presence != .unknown, logind.owner != nil {
            known[caller.connection] = seating
        }
        return isSame ? seating : Seating(.absent)
    }

    private func noteChange() {
        epoch += 1
        known = [:]
        onChange?()
    }

    private func lookUp(_ caller: Caller) async -> Seating {
        if logind.owner == nil { await logind.findOwner() }
        do throws(BusError) {
            if let session = try await session(of: caller.process) {
                return try await seating(in: session, of: caller, isOwn: false)
            }
            // Outside of sessions, which is how desktops start their applications, the user's
            // display session counts; it has to be the user's own, also root's.
            guard let session = try await display(of: caller.account.id) else {
                return Seating(.absent)
            }
            return try await seating(in: session, of: caller, isOwn: true)
        } catch {
            log.warning("logind gave no answer", ["error": "\(error)"])
            return Seating(.unknown)
        }
    }

    private func seating(
        in session: ObjectPath, of caller: Caller, isOwn: Bool
    ) async throws(BusError) -> Seating {
        let values = try await properties(of: Logind.session, at: session)
        let presence = SessionFacts(values)?.presence(of: caller.account.id, isOwn: isOwn)
        // logind gives no two sessions the same path.
        return Seating(presence ?? .unknown, in: SessionID(session.rawValue))
    }

    private func session(of process: CallerProcess?) async throws(BusError) -> ObjectPath? {
        guard let process else { return nil }
        do throws(BusError) {
            return try await logind.call(
                Logind.GetSessionByPID.self, Single(process.id), at: Logind.managerPath,
                deadline: Self.deadline
            ).value
        } catch {
            guard error.name == "org.freedesktop.login1.NoSessionForPID" else { throw error }
            return nil
        }
    }

    private func display(of user: UserID) async throws(BusError) -> ObjectPath? {
        let path: ObjectPath
        do throws(BusError) {
            path = try await logind.call(
                Logind.GetUser.self, Single(user.rawValue), at: Logind.managerPath,
                deadline: Self.deadline
            ).value
        } catch {
            guard error.name == "org.freedesktop.login1.NoSuchUser" else { throw error }
            return nil
        }
        return SessionFacts.display(of: try await properties(of: Logind.user, at: path))
    }

    private func properties(
        of interface: String, at path: ObjectPath
    ) async throws(BusError) -> [String: BusValue] {
        try await logind.call(
            GetAllProperties.self, Single(interface), at: path, deadline: Self.deadline
        ).value
    }
}
