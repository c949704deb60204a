// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import LocalAuthService

/// The whole service on a bus of its own, in this process, with fakes behind every port.
@BusQueue final class ServiceFixture {
    let bus: PrivateBus
    let service: AuthenticationService
    let readers: FakeReaders
    let prints = FakePrints([.sample])
    let generations = FakeGenerations()
    let lockouts = FakeLockouts()
    let histories = FakeHistories()
    let sessions = FakeSessions()
    let machine = FakeMachine()
    let programs = FakePrograms()
    let authority: FakeAuthority
    let passwords = FakePasswords()
    let accounts: FakeAccounts
    let connection: BusConnection
    /// The ends of connections, as the service hears of them.
    let gone = Journal<UniqueName>()
    private(set) var clients: [TestClient] = []

    init(
        _ bus: PrivateBus, as everybody: Account, asksForPassword: Bool,
        settings: ServiceSettings, present: [ReaderDescription]
    ) throws {
        self.bus = bus
        authority = FakeAuthority(asksForPassword: asksForPassword)
        accounts = FakeAccounts([.alice, .bob], everybody: everybody)
        readers = FakeReaders(present)
        connection = try BusConnection(address: bus.address)
        service = AuthenticationService(
            on: connection,
            ports: ServicePorts(
                readers: readers, prints: prints, generations: generations,
                lockouts: lockouts, history: histories,
                sessions: sessions, machine: machine, authority: authority, accounts: accounts,
                programs: programs, passwords: passwords),
            settings: settings, boot: .sample, version: "test", log: .silent)
        connection.watchPeers { [gone] name in gone.add(name) }
        service.export()
    }

    func start() async throws {
        _ = try await service.takeName()
        await service.start()
    }

    func connect() async throws -> TestClient {
        let client = try await TestClient(bus)
        clients.append(client)
        return client
    }

    func close() {
        for client in clients { client.close() }
        connection.close()
    }
}

/// Runs a test's body on the bus queue, with the service and a client.
func withService(
    as everybody: Account = .alice, asksForPassword: Bool = false,
    settings: ServiceSettings = ServiceSettings(), present: [ReaderDescription] = [.sample(1)],
    _ body: @escaping @Sendable @BusQueue (ServiceFixture, TestClient) async throws -> Void
) async throws {
    let fixture = try await ServiceFixture(
        try await PrivateBus(), as: everybody, asksForPassword: asksForPassword,
        settings: settings, present: present)
    let result: Result<Void, any Error>
    do {
        try await fixture.start()
        result = .success(try await body(fixture, try await fixture.connect()))
    } catch {
        result = .failure(error)
    }
    await fixture.close()
    try result.get()
}

/// The last part of the name of the error that something ends with; `nil` for none.
@BusQueue func ending(
    _ work: @BusQueue () async throws -> some Any
) async -> String? {
    do {
        _ = try await work()
        return nil
    } catch let error as BusError {
        return error.name.rawValue.split(separator: ".").last.map(String.init)
    } catch {
        return "\(error)"
    }
}
