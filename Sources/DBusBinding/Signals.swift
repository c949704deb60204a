// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// By what a signal is routed.
struct SignalKey: Hashable {
    let interface: String
    let member: String
}

/// Takes a signal that has come.
struct SignalHandler {
    let isFrom: @BusQueue (BusMessage) -> Bool
    let handle: @BusQueue (BusMessage) -> Void
}

/// `NameOwnerChanged(s name, s old_owner, s new_owner)` of the bus.
private enum NameOwnerChanged: BusSignal {
    static let interface: InterfaceName = "org.freedesktop.DBus"
    static let member: MemberName = "NameOwnerChanged"
    struct Arguments: BusBody {
        static let parameters = [
            BusParameter("name", String.self), BusParameter("old_owner", String.self),
            BusParameter("new_owner", String.self),
        ]
        let name: String
        let newOwner: String
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            name = try reader.read()
            _ = try reader.read(String.self)
            newOwner = try reader.read()
        }
        func encode(to writer: inout MessageWriter) {}
    }
}

extension BusConnection {
    /// Asks the bus for what a match rule names. Rules stay for the connection's life; the
    /// callers of this are few and fixed, so their number is too.
    private func addMatch(_ rule: String) {
        // Without an error argument libdbus does not wait for the answer. The bus takes messages
        // in order, so whatever is asked after this finds the rule in place.
        // On a connection that is closed nothing is asked.
        unsafe withRaw { unsafe dbus_bus_add_match($0, rule, nil) }
    }

    /// Hands a signal to those who asked for it.
    func route(_ message: BusMessage) -> Bool {
        let key = SignalKey(interface: message.interface ?? "", member: message.member ?? "")
        let handlers = signalHandlers[key] ?? []
        for handler in handlers where handler.isFrom(message) { handler.handle(message) }
        return !handlers.isEmpty
    }

    func handle<S: BusSignal>(
        _ signal: S.Type, from isFrom: @escaping @BusQueue (BusMessage) -> Bool,
        _ body: @escaping @BusQueue (S.Arguments, ObjectPath) -> Void
    ) {
        let key = SignalKey(interface: S.interface.rawValue, member: S.member.rawValue)
        let handler = SignalHandler(isFrom: isFrom) { message in
            guard let path = message.path, let arguments = try? message.decode(S.Arguments.self)
            else { return }
            body(arguments, path)
        }
        signalHandlers[key, default: []].append(handler)
    }

    /// Calls `gone` for every connection that leaves the bus from now on.
    ///
    /// One rule serves any number of peers, so that their number is not bounded by the bus's
    /// limit of rules.
    package func watchPeers(gone: @escaping @BusQueue (UniqueName) -> Void) {
        if peerWatchers.isEmpty {
            addMatch(
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                    + "member='NameOwnerChanged',arg2=''")
            handleNameOwners { [unowned self] name, newOwner in
                guard newOwner == nil, let peer = UniqueName(name) else { return }
                for watcher in peerWatchers { watcher(peer) }
            }
        }
        peerWatchers.append(gone)
    }

    private func handleNameOwners(
        _ body: @escaping @BusQueue (_ name: String, _ newOwner: UniqueName?) -> Void
    ) {
        handle(
            NameOwnerChanged.self, from: { $0.senderText == "org.freedesktop.DBus" }
        ) { arguments, _ in
            body(arguments.name, UniqueName(arguments.newOwner))
        }
    }

    fileprivate func watchOwner(
        of name: BusName, _ body: @escaping @BusQueue (UniqueName?) -> Void
    ) {
        addMatch(
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg0='\(name.rawValue)'")
        handleNameOwners { changed, newOwner in
            if changed == name.rawValue { body(newOwner) }
        }
    }

    fileprivate func addSignalMatch<S: BusSignal>(_ signal: S.Type, from name: BusName) {
        addMatch(
            "type='signal',sender='\(name.rawValue)',interface='\(S.interface.rawValue)',"
                + "member='\(S.member.rawValue)'")
    }

    /// Takes every signal of this kind that is sent to this connection alone, or that the
    /// service broadcasts. For clients.
    package func onSignal<S: BusSignal>(
        _ signal: S.Type, of service: RemoteService,
        _ body: @escaping @BusQueue (S.Arguments, ObjectPath) -> Void
    ) {
        addSignalMatch(signal, from: service.name)
        handle(signal, from: { [weak service] in service?.isOwner($0.sender) ?? false }, body)
    }
}

/// A service that we call, known by its well-known name, with a look at who owns that name.
///
/// Anybody can send us a signal that names any interface; only those of the name's owner count.
@BusQueue package final class RemoteService {
    package let name: BusName
    package let connection: BusConnection
    package private(set) var owner: UniqueName?
    /// Called when the name gets another owner, or none.
    package var onOwnerChange: ((UniqueName?) -> Void)?
    private var hasHeardOfOwner = false

    package init(_ name: BusName, on connection: BusConnection) {
        self.name = name
        self.connection = connection
        connection.watchOwner(of: name) { [weak self] owner in
            guard let self else { return }
            self.owner = owner
            hasHeardOfOwner = true
            onOwnerChange?(owner)
        }
    }

    /// Asks who owns the name now, without starting the service.
    package func findOwner() async {
        let reply = try? await connection.call(
            GetNameOwner.self, Single(name.rawValue), of: .bus, at: "/org/freedesktop/DBus",
            deadline: .seconds(5))
        // What was heard since the rule was in place is at least as new as this answer.
        guard !hasHeardOfOwner, let found = reply.flatMap({ UniqueName($0.value) }) else {
            return
        }
        owner = found
    }

    func isOwner(_ sender: UniqueName?) -> Bool { owner != nil && sender == owner }

    /// Calls a method of the service; see `BusConnection.call`.
    package func call<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments, at path: ObjectPath, deadline: Duration?,
        interactive: Bool = false
    ) async throws(BusError) -> M.Reply {
        try await connection.call(
            method, arguments, of: .service(name), at: path, deadline: deadline,
            interactive: interactive)
    }

    /// Takes a signal of the service.
    package func onSignal<S: BusSignal>(
        _ signal: S.Type, _ body: @escaping @BusQueue (S.Arguments, ObjectPath) -> Void
    ) {
        connection.onSignal(signal, of: self, body)
    }
}
