// SPDX-License-Identifier: Apache-2.0

// What the bus itself offers (D-Bus specification, "Message Bus Messages").

private let driver: InterfaceName = "org.freedesktop.DBus"
private let driverPath: ObjectPath = "/org/freedesktop/DBus"

enum GetNameOwner: BusMethod {
    static let interface = driver
    static let member: MemberName = "GetNameOwner"
    typealias Arguments = Single<String>
    typealias Reply = Single<String>
}

private enum GetConnectionCredentials: BusMethod {
    static let interface = driver
    static let member: MemberName = "GetConnectionCredentials"
    typealias Arguments = Single<String>
    typealias Reply = Single<[String: BusValue]>
}

private enum RequestName: BusMethod {
    static let interface = driver
    static let member: MemberName = "RequestName"
    struct Arguments: BusBody {
        static let parameters = [
            BusParameter("name", String.self), BusParameter("flags", UInt32.self),
        ]
        let name: String
        let flags: UInt32
        init(name: String, flags: UInt32) {
            self.name = name
            self.flags = flags
        }
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            name = try reader.read()
            flags = try reader.read()
        }
        func encode(to writer: inout MessageWriter) {
            writer.write(name)
            writer.write(flags)
        }
    }
    typealias Reply = Single<UInt32>
}

private enum ReleaseName: BusMethod {
    static let interface = driver
    static let member: MemberName = "ReleaseName"
    typealias Arguments = Single<String>
    typealias Reply = Single<UInt32>
}

extension BusConnection {
    /// Asks the bus who is behind a connection. Without an answer there is an error, and no user.
    package func credentials(
        of peer: UniqueName, deadline: Duration
    ) async throws(BusError) -> PeerCredentials {
        let values = try await call(
            GetConnectionCredentials.self, Single(peer.rawValue), of: .bus, at: driverPath,
            deadline: deadline
        ).value
        guard let credentials = PeerCredentials(values) else {
            throw BusError(.failed, "the bus does not know the user of \(peer.rawValue)")
        }
        return credentials
    }

    /// Whether a connection is on the bus. Without an answer it is not.
    package func isOnBus(_ peer: UniqueName, deadline: Duration) async -> Bool {
        let reply = try? await call(
            GetNameOwner.self, Single(peer.rawValue), of: .bus, at: driverPath,
            deadline: deadline)
        return reply?.value == peer.rawValue
    }

    /// Takes a well-known name. False when somebody else has it.
    package func requestName(_ name: BusName) async throws(BusError) -> Bool {
        // 4: do not queue for the name. 1 and 4: we own it (now, or already).
        let reply = try await call(
            RequestName.self, RequestName.Arguments(name: name.rawValue, flags: 4), of: .bus,
            at: driverPath, deadline: .seconds(25))
        return reply.value == 1 || reply.value == 4
    }

    /// Gives a well-known name back. Calls that were sent to it before have arrived by then.
    package func releaseName(_ name: BusName) async throws(BusError) {
        _ = try await call(
            ReleaseName.self, Single(name.rawValue), of: .bus, at: driverPath,
            deadline: .seconds(25))
    }
}
