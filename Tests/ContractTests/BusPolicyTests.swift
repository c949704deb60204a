// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import FoundationXML
import LocalAuthContract
import LocalAuthService
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The bus policy` {
    private static let isRoot = geteuid() == 0
    /// A user who is nobody in particular.
    private static let stranger = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

    /// Calls a method of the service, or of `destination`, as another user or as this one.
    private func call(
        _ bus: PrivateBus, as prefix: [String], _ method: [String],
        of destination: String = Service.name.rawValue,
        at path: String = Service.path.rawValue
    ) async throws -> Ended {
        try await run(
            prefix + [
                "dbus-send", "--bus=\(bus.address)", "--print-reply", "--reply-timeout=5000",
                "--dest=\(destination)", path,
            ] + method)
    }

    private func requestName(_ bus: PrivateBus, as prefix: [String]) async throws -> Ended {
        let arguments = ["string:\(Service.name.rawValue)", "uint32:0"]
        return try await call(
            bus, as: prefix, ["org.freedesktop.DBus.RequestName"] + arguments,
            of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus")
    }

    @Test func `allows the interfaces that can be called, and no other`() async throws {
        let callable = try await servedInterfaces()
            .filter { !$0.children("method").isEmpty }.compactMap { $0["name"] }
        let policies = try Repository.xml("dbus/org.example.LocalAuth.conf").all
            .filter { $0["context"] == "default" }
        let allowed = policies.flatMap(\.all)
            .filter { $0.name == "allow" }.compactMap { $0["send_interface"] }
        #expect(Set(allowed) == Set(callable))
        #expect(Set(allowed).count == allowed.count)
    }

    @Test(.enabled(if: isRoot, "needs root, to become another user"))
    func `lets root own the name and nobody else`() async throws {
        let bus = try await PrivateBus(.shipped)
        let refused = try await requestName(bus, as: Self.stranger)
        #expect(refused.status != 0)
        #expect(refused.output.contains("org.freedesktop.DBus.Error.AccessDenied"))
        let granted = try await requestName(bus, as: [])
        #expect(granted.status == 0 && granted.output.contains("uint32 1"), "\(granted.output)")
    }

    @Test(.enabled(if: isRoot, "needs root, to own the name"))
    func `is what lets root own the name`() async throws {
        let refused = try await requestName(try await PrivateBus(.system), as: [])
        #expect(refused.output.contains("org.freedesktop.DBus.Error.AccessDenied"))
    }

    @Test(.enabled(if: isRoot, "needs root, to own the name and become another user"))
    func `lets anybody call what is served, and nothing else`() async throws {
        try await ServedBus.whileServing(.shipped) { served in
            #expect(try await served.service.takeName())
            let allowed = [
                ["org.example.LocalAuth.CanEvaluatePolicy", "uint32:1"],
                ["org.example.LocalAuth.Management.ListFingers", "string:"],
                ["org.freedesktop.DBus.Introspectable.Introspect"],
                ["org.freedesktop.DBus.ObjectManager.GetManagedObjects"],
                ["org.freedesktop.DBus.Peer.Ping"],
                ["org.freedesktop.DBus.Properties.GetAll", "string:org.example.LocalAuth"],
            ]
            for method in allowed {
                let result = try await call(served.bus, as: Self.stranger, method)
                #expect(result.status == 0, "\(method): \(result.output)")
            }
            let others = [
                ["org.example.LocalAuth.Reader.Open"], ["org.example.LocalAuth.Agent.BeginPrompt"],
                ["org.freedesktop.DBus.Debug.Stats.GetStats"],
                ["net.reactivated.Fprint.Device.Claim"],
            ]
            for method in others {
                let result = try await call(served.bus, as: Self.stranger, method)
                #expect(
                    result.status != 0
                        && result.output.contains("org.freedesktop.DBus.Error.AccessDenied"),
                    "\(method): \(result.output)")
            }
        }
    }

    @Test(.enabled(if: isRoot, "needs root, to be the service and to become another user"))
    func `lets root ask every agent, and nobody else`() async throws {
        let bus = try await PrivateBus(.shipped)
        let (name, path) = try await Self.startAgent(on: bus)
        let method = ["org.example.LocalAuth.Agent.EndPrompt", "string:1", "string:success"]
        let granted = try await call(bus, as: [], method, of: name, at: path)
        #expect(granted.status == 0, "\(granted.output)")
        let refused = try await call(bus, as: Self.stranger, method, of: name, at: path)
        #expect(refused.output.contains("org.freedesktop.DBus.Error.AccessDenied"))
    }

    /// An agent that lives as long as its bus.
    @BusQueue private static func startAgent(
        on bus: PrivateBus
    ) async throws -> (name: String, path: String) {
        let agent = TestAgent(try await TestClient(bus))
        agents.append(agent)
        return (agent.client.connection.uniqueName.rawValue, agent.path.rawValue)
    }

    @BusQueue private static var agents: [TestAgent] = []
}
