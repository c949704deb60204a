// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import Testing

@testable import LocalAuthService

@Suite(.timeLimit(.minutes(1))) struct `A caller registry` {
    @BusQueue private final class Fixture {
        let bus: PrivateBus
        let connection: BusConnection
        let accounts = FakeAccounts([.alice], everybody: .alice)
        let gone = Journal<UniqueName>()
        let registry: CallerRegistry

        init(_ bus: PrivateBus) throws {
            self.bus = bus
            connection = try BusConnection(address: bus.address)
            registry = CallerRegistry(
                on: connection, accounts: accounts, programs: FakePrograms())
            connection.watchPeers { [registry, gone] name in
                registry.forget(name)
                gone.add(name)
            }
        }

        func connect() throws -> BusConnection { try BusConnection(address: bus.address) }
    }

    private static func with(
        _ body: @escaping @Sendable @BusQueue (Fixture) async throws -> Void
    ) async throws {
        let fixture = try await Fixture(try await PrivateBus())
        try await body(fixture)
        await fixture.connection.close()
    }

    @Test func `looks a caller up once, however many ask at once`() async throws {
        try await Self.with { fixture in
            let peer = try fixture.connect()
            let name = peer.uniqueName
            let registry = fixture.registry
            async let first = registry.caller(name)
            async let second = registry.caller(name)
            let callers = try await [first, second, registry.caller(name)]
            #expect(Set(callers).count == 1)
            #expect(callers[0].account == .alice)
            #expect(callers[0].connection == name.rawValue)
            #expect(callers[0].process != nil)
            #expect(fixture.accounts.lookUps.entries.count == 1)
            #expect(registry.isPresent(callers[0]))
            peer.close()
            await fixture.gone.reaches(1)
            #expect(!registry.isPresent(callers[0]))
        }
    }

    @Test func `knows nobody who has gone while being looked up`() async throws {
        try await Self.with { fixture in
            let peer = try fixture.connect()
            let name = peer.uniqueName
            fixture.accounts.isHeld = true
            let lookUp = Task { @BusQueue in try await fixture.registry.caller(name) }
            await fixture.accounts.lookUps.reaches(1)
            peer.close()
            await fixture.gone.reaches(1)
            fixture.accounts.answer()
            await #expect(throws: CallerFailure.gone) { try await lookUp.value }
            let ghost = Caller(connection: name.rawValue, account: .alice)
            #expect(!fixture.registry.isPresent(ghost))
        }
    }

    @Test func `knows nobody who was never there`() async throws {
        try await Self.with { fixture in
            for _ in 0..<2 {
                await #expect(throws: CallerFailure.gone) {
                    try await fixture.registry.caller(valid(UniqueName(":1.999")))
                }
            }
            #expect(fixture.accounts.lookUps.entries.isEmpty)
        }
    }

    @Test func `takes nobody without an account for anybody`() async throws {
        try await Self.with { fixture in
            let peer = try fixture.connect()
            fixture.accounts.everybody = nil
            await #expect(throws: CallerFailure.noAccount) {
                try await fixture.registry.caller(peer.uniqueName)
            }
            fixture.accounts.everybody = .alice
            #expect(try await fixture.registry.caller(peer.uniqueName).account == .alice)
            peer.close()
        }
    }
}

@Suite struct `A caller's process` {
    private func credentials(_ values: [String: BusValue]) throws -> PeerCredentials {
        try #require(PeerCredentials(["UnixUserID": .uint32(1000)].merging(values) { $1 }))
    }

    @Test func `is held by the bus's descriptor, which tells its end`() throws {
        // Like a pidfd, one end of a pair can be read when the other has ended.
        let ends = Pipe()
        let held = SharedDescriptor(adopting: dup(ends.fileHandleForReading.fileDescriptor))
        let process = try #require(
            CallerProcess(
                try credentials([
                    "ProcessID": .uint32(71), "ProcessFD": .descriptor(held),
                    "LinuxSecurityLabel": .bytes(Array("safe (enforce)\0".utf8)),
                ])))
        #expect(process.id == 71)
        #expect(process.label == "safe (enforce)")
        #expect(process.handle?.isAlive == true)
        #expect(!process.hasEnded)
        try ends.fileHandleForWriting.write(contentsOf: [1])
        #expect(process.handle?.isAlive == false)
        #expect(process.hasEnded)
    }

    @Test func `is not known where the bus does not know it`() throws {
        #expect(CallerProcess(try credentials([:])) == nil)
        let process = try #require(CallerProcess(try credentials(["ProcessID": .uint32(71)])))
        #expect(process.handle == nil)
        // It may have ended; but nobody knows that it has.
        #expect(!process.hasEnded)
    }
}
