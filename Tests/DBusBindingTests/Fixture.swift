// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import Testing

enum Sample {
    static let interface: InterfaceName = "org.example.Sample"
    static let path: ObjectPath = "/org/example/Sample"
    static let name: BusName = "org.example.Sample"
}

/// Gives back what it was given.
enum Echo<Value: BusType>: BusMethod {
    typealias Arguments = Single<Value>
    typealias Reply = Single<Value>
    static var interface: InterfaceName { Sample.interface }
    static var member: MemberName { "Echo" }
}

/// Does what a test wants, or nothing.
enum Ask: BusMethod {
    typealias Arguments = NoValues
    typealias Reply = NoValues
    static let interface = Sample.interface
    static let member: MemberName = "Ask"
}

enum Told: BusSignal {
    typealias Arguments = Single<String>
    static let interface = Sample.interface
    static let member: MemberName = "Told"
}

/// A service and a client in this process, on a bus of their own.
@BusQueue final class Pair {
    nonisolated let bus: PrivateBus
    let server: BusConnection
    let client: BusConnection

    init(_ bus: PrivateBus) throws {
        self.bus = bus
        server = try BusConnection(address: bus.address)
        client = try BusConnection(address: bus.address)
    }

    /// Serves one interface at `Sample.path`.
    func serve(_ fill: (inout BusInterface) -> Void) {
        var interface = BusInterface(Sample.interface)
        fill(&interface)
        server.export(BusObject(Sample.path, [interface]))
    }

    func call<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments, at path: ObjectPath = Sample.path,
        deadline: Duration? = .seconds(30)
    ) async throws -> M.Reply {
        try await client.call(
            method, arguments, of: .peer(server.uniqueName), at: path, deadline: deadline)
    }

    /// The name of the error that a call ends with.
    func error<M: BusMethod>(
        of method: M.Type, _ arguments: M.Arguments, at path: ObjectPath = Sample.path,
        deadline: Duration? = .seconds(30)
    ) async -> ErrorName? {
        do throws(BusError) {
            _ = try await client.call(
                method, arguments, of: .peer(server.uniqueName), at: path, deadline: deadline)
            return nil
        } catch {
            return error.name
        }
    }

    func close() {
        client.close()
        server.close()
    }
}

/// Runs a test's body on the bus queue, with a bus, a service and a client.
func withPair(
    _ body: @escaping @Sendable @BusQueue (Pair) async throws -> Void
) async throws {
    let pair = try await Pair(try await PrivateBus())
    let result: Result<Void, any Error>
    do {
        result = .success(try await body(pair))
    } catch {
        result = .failure(error)
    }
    await pair.close()
    try result.get()
}
