// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import FoundationXML
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import SystemSupport

/// The real service with fake ports, on a bus of its own, and a client beside it.
@BusQueue final class ServedBus {
    nonisolated let bus: PrivateBus
    let service: AuthenticationService
    private let connection: BusConnection
    private let client: BusConnection

    private init(_ bus: PrivateBus) throws {
        self.bus = bus
        connection = try BusConnection(address: bus.address)
        client = try BusConnection(address: bus.address)
        guard let boot = BootID("0") else { throw CocoaError(.featureUnsupported) }
        service = AuthenticationService(
            on: connection, ports: .fake, settings: ServiceSettings(), boot: boot,
            version: "0", log: Log(topic: "contract", threshold: .error))
        service.export()
    }

    /// Serves, without the name, while `body` runs.
    nonisolated static func whileServing<T: Sendable>(
        _ rules: Rules, _ body: (ServedBus) async throws -> T
    ) async throws -> T {
        let served = try await ServedBus(try await PrivateBus(rules))
        await served.service.start()
        // A connection must be closed before it is let go, also when the test fails.
        do {
            let result = try await body(served)
            await served.stop()
            return result
        } catch {
            await served.stop()
            throw error
        }
    }

    private func stop() async {
        await service.stop()
        client.close()
        connection.close()
    }

    /// The introspection data of an object of the service's.
    func introspection(of path: ObjectPath) async throws -> String {
        try await client.call(
            AskIntrospection.self, NoValues(), of: .peer(connection.uniqueName), at: path,
            deadline: .seconds(5)
        ).value
    }
}

private enum AskIntrospection: BusMethod {
    static let interface: InterfaceName = "org.freedesktop.DBus.Introspectable"
    static let member: MemberName = "Introspect"
    typealias Arguments = NoValues
    typealias Reply = Single<String>
}

/// The interfaces that the service's objects have, as they say themselves.
func servedInterfaces() async throws -> [XMLElement] {
    let texts = try await ServedBus.whileServing(.open) { served in
        [
            try await served.introspection(of: Service.path),
            try await served.introspection(of: Service.readerPath(1)),
        ]
    }
    return try texts.flatMap { text in
        try Repository.root(of: XMLDocument(xmlString: text)).children("interface")
    }
}

/// The interface that an agent has, as a test's says itself.
func agentInterfaces() async throws -> [XMLElement] {
    let bus = try await PrivateBus(.open)
    let text = try await introspectAgent(on: bus)
    return try Repository.root(of: XMLDocument(xmlString: text)).children("interface")
}

@BusQueue private func introspectAgent(on bus: PrivateBus) async throws -> String {
    let agent = TestAgent(try await TestClient(bus))
    let client = try BusConnection(address: bus.address)
    let text = try await client.call(
        AskIntrospection.self, NoValues(), of: .peer(agent.client.connection.uniqueName),
        at: agent.path, deadline: .seconds(5)
    ).value
    agent.client.close()
    client.close()
    return text
}
