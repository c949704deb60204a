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
    private var known: [String: Presence] = [:]
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
        connection.watchPeers { [weak self] name in self?.known[name.rawValue] = nil }
    }

    @BusQueue package func start(changed: @escaping @Sendable () -> Void) async {
        onChange = changed
        await logind.findOwner()
    }

    @BusQueue package func presence(of caller: Caller) async -> Presence {
        if let presence = known[caller.connection] { return presence }
        let asked = epoch
        let presence = await lookUp(caller)
        // Not kept if something changed meanwhile, or if changes could not be heard of.
        if asked == epoch, presence != .unknown, logind.owner != nil {
            known[caller.connection] = presence
        }
        return presence
    }

    private func noteChange() {
        epoch += 1
        known = [:]
        onChange?()
    }

    private func lookUp(_ caller: Caller) async -> Presence {
        if logind.owner == nil { await logind.findOwner() }
        do throws(BusError) {
            guard let session = try await session(of: caller) else { return .absent }
            let values = try await properties(of: Logind.session, at: session)
            return Self.presence(values)
        } catch {
            log.warning("logind gave no answer", ["error": "\(error)"])
            return .unknown
        }
    }

    /// The session of the caller's process; for one outside of sessions, which is how desktops
    /// start their applications, the user's display session.
    private func session(of caller: Caller) async throws(BusError) -> ObjectPath? {
        if let process = caller.processID {
            do throws(BusError) {
                return try await logind.call(
                    Logind.GetSessionByPID.self, Single(process), at: Logind.managerPath,
                    deadline: Self.deadline
                ).value
            } catch {
                guard error.name == "org.freedesktop.login1.NoSessionForPID" else { throw error }
            }
        }
        let user: ObjectPath
        do throws(BusError) {
            user = try await logind.call(
                Logind.GetUser.self, Single(caller.account.id.rawValue), at: Logind.managerPath,
                deadline: Self.deadline
            ).value
        } catch {
            guard error.name == "org.freedesktop.login1.NoSuchUser" else { throw error }
            return nil
        }
        // `Display` is (so): the session's id and path; an empty id where there is none.
        let display = try await properties(of: Logind.user, at: user)["Display"]
        guard case .structure(let fields)? = display, fields.count == 2,
            case .string(let id) = fields[0], !id.isEmpty,
            case .objectPath(let path) = fields[1]
        else { return nil }
        return path
    }

    private func properties(
        of interface: String, at path: ObjectPath
    ) async throws(BusError) -> [String: BusValue] {
        try await logind.call(
            GetAllProperties.self, Single(interface), at: path, deadline: Self.deadline
        ).value
    }

    /// Active, local and not locked, and logind says so in so many words.
    private static func presence(_ values: [String: BusValue]) -> Presence {
        guard case .bool(let isActive)? = values["Active"],
            case .bool(let isRemote)? = values["Remote"]
        else { return .unknown }
        // Sessions without a lock have no hint, which means not locked.
        let isLocked = values["LockedHint"] == .bool(true)
        return isActive && !isRemote && !isLocked ? .present : .absent
    }
}
