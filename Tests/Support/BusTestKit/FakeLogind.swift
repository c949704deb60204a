// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import Foundation
internal import SystemSupport

// logind's D-Bus interface: org.freedesktop.login1(5).

private let manager: InterfaceName = "org.freedesktop.login1.Manager"
private let managerPath: ObjectPath = "/org/freedesktop/login1"
private let sessionInterface: InterfaceName = "org.freedesktop.login1.Session"
private let userInterface: InterfaceName = "org.freedesktop.login1.User"

/// A logind with the sessions that a test gives it, of a machine that sleeps when it is told to.
@BusQueue package final class FakeLogind {
    /// What is told about a session.
    package struct Session: Hashable, Sendable {
        package var isActive: Bool
        package var isRemote: Bool
        package var isLocked: Bool
        /// Whose it is; the test's own user by default.
        package var user: UInt32
        /// Empty for a session without a seat.
        package var seat: String
        package var kind: String
        /// Follows from being active by default.
        package var state: String?
        package init(
            isActive: Bool = true, isRemote: Bool = false, isLocked: Bool = false,
            user: UInt32 = getuid(), seat: String = "seat0", kind: String = "user",
            state: String? = nil
        ) {
            self.isActive = isActive
            self.isRemote = isRemote
            self.isLocked = isLocked
            self.user = user
            self.seat = seat
            self.kind = kind
            self.state = state
        }

        fileprivate var values: [MemberName: BusValue] {
            let seatPath = ObjectPath("/org/freedesktop/login1/seat/\(seat)") ?? "/"
            let userPath = ObjectPath("/org/freedesktop/login1/user/_\(user)") ?? "/"
            return [
                "Active": .bool(isActive), "Remote": .bool(isRemote),
                "LockedHint": .bool(isLocked),
                "State": .string(state ?? (isActive ? "active" : "online")),
                "Class": .string(kind), "Type": .string("wayland"),
                "Seat": .structure([.string(seat), .objectPath(seatPath)]),
                "User": .structure([.uint32(user), .objectPath(userPath)]),
            ]
        }
    }

    /// What is told about the machine; `nil` is a property that logind does not have.
    package struct Machine: Sendable {
        package var isPreparingForSleep: BusValue? = .bool(false)
        package var isLidClosed: BusValue? = .bool(false)
        package var isDocked: BusValue? = .bool(false)
        package init() {}
    }

    package nonisolated static let name: BusName = "org.freedesktop.login1"

    /// Each question, such as `GetSessionByPID 71` or `Inhibit sleep delay`.
    package let questions = Happenings<String>()
    /// How many inhibitors are held, after each change.
    package let inhibitorCounts = Happenings<Int>()
    package private(set) var inhibitors = 0
    /// Whether an inhibitor is refused, as between the words before and after sleep.
    package var refusesInhibitors = false
    private var machine: Machine
    private let connection: BusConnection
    private var sessions: [String: Session] = [:]
    private var places: [UInt32: String] = [:]
    private var displays: [UInt32: String] = [:]

    /// Takes logind's name on a bus; knows nobody yet.
    package init(_ bus: PrivateBus, machine: Machine = Machine()) async throws {
        self.machine = machine
        connection = try BusConnection(address: bus.address)
        export()
        guard try await connection.requestName(Self.name) else {
            throw BusError(.failed, "somebody else is logind")
        }
    }

    // MARK: The machine

    /// Says that the machine is about to sleep, or is awake again.
    package func prepareForSleep(_ start: Bool) {
        machine.isPreparingForSleep = .bool(start)
        connection.send(PrepareForSleep.self, Single(start), from: managerPath)
    }

    /// Is awake again, or asleep, without a word of it.
    package func setPreparingForSleep(_ value: Bool) {
        machine.isPreparingForSleep = .bool(value)
    }

    /// Changes the lid, and tells of it.
    package func changeLid(_ value: BusValue) {
        machine.isLidClosed = value
        connection.tellChange(of: "LidClosed", in: manager, at: managerPath)
    }

    /// Changes the dock; tells of it only if it is to.
    package func changeDock(_ value: BusValue, tells: Bool = true) {
        machine.isDocked = value
        if tells { connection.tellChange(of: "Docked", in: manager, at: managerPath) }
    }

    /// Says that the lid is different, and not how.
    package func invalidateLid(_ value: BusValue) {
        machine.isLidClosed = value
        connection.send(
            PropertiesChanged.self,
            PropertiesChanged.Arguments(
                interface: manager.rawValue, changed: [:], invalidated: ["LidClosed"]),
            from: managerPath)
    }

    private func export() {
        var interface = managing
        let properties: [(MemberName, WritableKeyPath<Machine, BusValue?>)] = [
            ("PreparingForSleep", \.isPreparingForSleep), ("LidClosed", \.isLidClosed),
            ("Docked", \.isDocked),
        ]
        for (name, path) in properties {
            guard let first = machine[keyPath: path] else { continue }
            interface.has(
                BusProperty(name, first.typeSignature) { [weak self] in
                    self?.machine[keyPath: path] ?? first
                })
        }
        connection.export(BusObject(managerPath, [interface]))
    }

    /// Gives out one end of a pair and counts those that are held: each hangs up when it is not.
    private func inhibit(_ arguments: Inhibit.Arguments) throws(BusError) -> SharedDescriptor {
        questions.note("Inhibit \(arguments.what) \(arguments.mode)")
        guard !refusesInhibitors, machine.isPreparingForSleep != .bool(true) else {
            throw BusError("org.freedesktop.login1.OperationInProgress", "the machine sleeps")
        }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel writes two numbers.
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw BusError(.failed, "no descriptor left")
        }
        let reading = SharedDescriptor(adopting: ends[0])
        count(1)
        var token: PollExecutor.Token?
        token = BusQueue.executor.watch(reading.rawValue, for: .input) { [weak self] _ in
            BusQueue.assumeIsolated {
                if let token { BusQueue.executor.unwatch(token) }
                token = nil
                _ = reading
                self?.count(-1)
            }
        }
        return SharedDescriptor(adopting: ends[1])
    }

    private func count(_ change: Int) {
        inhibitors += change
        inhibitorCounts.note(inhibitors)
    }

    // MARK: Sessions

    /// Opens a session.
    package func add(_ id: String, _ session: Session = Session()) {
        sessions[id] = session
        var interface = BusInterface(sessionInterface)
        for (name, value) in session.values {
            interface.has(
                BusProperty(name, value.typeSignature) { [weak self] in
                    self?.sessions[id]?.values[name] ?? value
                })
        }
        connection.export(BusObject(path(of: id), [interface]))
        connection.send(
            SessionNew.self, SessionArguments(id: id, path: path(of: id)), from: managerPath)
    }

    /// Changes a session, and tells what is different.
    package func change(_ id: String, to session: Session) {
        let old = sessions[id]?.values ?? [:]
        sessions[id] = session
        for (name, value) in session.values where old[name] != value { tell(name, of: id) }
    }

    /// Closes a session.
    package func remove(_ id: String) {
        sessions[id] = nil
        places = places.filter { $0.value != id }
        for (user, session) in displays where session == id { setDisplay(of: user, to: nil) }
        connection.unexport(path(of: id))
        connection.send(
            SessionRemoved.self, SessionArguments(id: id, path: path(of: id)), from: managerPath)
    }

    /// Puts a process into a session.
    package func place(_ process: Int32, in session: String) {
        places[UInt32(bitPattern: process)] = session
    }

    /// Makes a session the one that its user's desktop is in; a user with none has no desktop.
    package func setDisplay(of user: UInt32, to session: String?) {
        let isNew = displays.updateValue(session ?? "", forKey: user) == nil
        guard isNew else {
            return connection.tellChange(of: "Display", in: userInterface, at: path(of: user))
        }
        var interface = BusInterface(userInterface)
        interface.has(
            BusProperty("Display", "(so)") { [weak self] in
                guard let self, let id = displays[user], !id.isEmpty else {
                    return .structure([.string(""), .objectPath("/")])
                }
                return .structure([.string(id), .objectPath(path(of: id))])
            })
        connection.export(BusObject(path(of: user), [interface]))
    }

    /// Leaves the bus, as a process that dies does.
    package func close() { connection.close() }

    private func path(of session: String) -> ObjectPath {
        ObjectPath("/org/freedesktop/login1/session/\(session)") ?? managerPath
    }

    private func path(of user: UInt32) -> ObjectPath {
        ObjectPath("/org/freedesktop/login1/user/_\(user)") ?? managerPath
    }

    private func tell(_ property: MemberName, of session: String) {
        connection.tellChange(of: property, in: sessionInterface, at: path(of: session))
    }

    private var managing: BusInterface {
        var interface = BusInterface(manager)
        interface.serve(GetSessionByPID.self) { [weak self] process, _ throws(BusError) in
            self?.questions.note("GetSessionByPID \(process.value)")
            guard let self, let id = places[process.value] else {
                throw BusError(
                    "org.freedesktop.login1.NoSessionForPID", "the process is in no session")
            }
            return Single(path(of: id))
        }
        interface.serve(GetUser.self) { [weak self] user, _ throws(BusError) in
            self?.questions.note("GetUser \(user.value)")
            guard let self, displays[user.value] != nil else {
                throw BusError("org.freedesktop.login1.NoSuchUser", "the user is not logged in")
            }
            return Single(path(of: user.value))
        }
        interface.serve(Inhibit.self) { [weak self] arguments, _ throws(BusError) in
            guard let self else { throw BusError(.failed, "the test is over") }
            return Single(try inhibit(arguments))
        }
        interface.sends(PrepareForSleep.self)
        interface.sends(SessionNew.self)
        interface.sends(SessionRemoved.self)
        return interface
    }
}

private enum GetSessionByPID: BusMethod {
    static let interface = manager
    static let member: MemberName = "GetSessionByPID"
    typealias Arguments = Single<UInt32>
    typealias Reply = Single<ObjectPath>
}

private enum GetUser: BusMethod {
    static let interface = manager
    static let member: MemberName = "GetUser"
    typealias Arguments = Single<UInt32>
    typealias Reply = Single<ObjectPath>
}

private enum Inhibit: BusMethod {
    static let interface = manager
    static let member: MemberName = "Inhibit"
    typealias Reply = Single<SharedDescriptor>
    struct Arguments: BusBody {
        static let parameters = ["what", "who", "why", "mode"].map { BusParameter($0, String.self) }
        let what: String
        let mode: String
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            what = try reader.read()
            _ = try reader.read(String.self)
            _ = try reader.read(String.self)
            mode = try reader.read()
        }
        func encode(to writer: inout MessageWriter) {}
    }
}

private enum PrepareForSleep: BusSignal {
    static let interface = manager
    static let member: MemberName = "PrepareForSleep"
    typealias Arguments = Single<Bool>
}

private enum SessionNew: BusSignal {
    static let interface = manager
    static let member: MemberName = "SessionNew"
    typealias Arguments = SessionArguments
}

private enum SessionRemoved: BusSignal {
    static let interface = manager
    static let member: MemberName = "SessionRemoved"
    typealias Arguments = SessionArguments
}

private struct SessionArguments: BusBody {
    static let parameters = [
        BusParameter("session_id", String.self), BusParameter("object_path", ObjectPath.self),
    ]
    let id: String
    let path: ObjectPath
    init(id: String, path: ObjectPath) {
        self.id = id
        self.path = path
    }
    init(from reader: inout MessageReader) throws(DecodingFailure) {
        id = try reader.read()
        path = try reader.read()
    }
    func encode(to writer: inout MessageWriter) {
        writer.write(id)
        writer.write(path)
    }
}
