// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A call` {
    @Test func `ends at its deadline`() async throws {
        try await withPair { pair in
            let held = Journal<CheckedContinuation<Void, Never>>()
            pair.serve {
                $0.serve(Ask.self) { arguments, _ in
                    await withCheckedContinuation { held.add($0) }
                    return arguments
                }
            }
            for deadline in [Duration.zero, .milliseconds(20)] {
                let error = await pair.error(of: Ask.self, NoValues(), deadline: deadline)
                #expect(error == .noReply)
            }
            // The answers come too late, and to nobody.
            await held.reaches(2)
            for continuation in held.entries { continuation.resume() }
            #expect(await pair.error(of: Echo.self, Single("x")) == .unknownMethod)
        }
    }

    @Test func `ends when the callee dies`() async throws {
        try await withPair { pair in
            let server = pair.server
            pair.serve {
                $0.serve(Ask.self) { arguments, _ in
                    server.close()
                    return arguments
                }
            }
            #expect(await pair.error(of: Ask.self, NoValues(), deadline: nil) == .noReply)
            #expect(await pair.error(of: Ask.self, NoValues()) == .serviceUnknown)
        }
    }

    @Test func `ends when the caller's connection is closed`() async throws {
        try await withPair { pair in
            let asked = Journal<Void>()
            let held = Journal<CheckedContinuation<Void, Never>>()
            pair.serve {
                $0.serve(Ask.self) { arguments, _ in
                    asked.add()
                    await withCheckedContinuation { held.add($0) }
                    return arguments
                }
            }
            async let first = pair.error(of: Ask.self, NoValues(), deadline: nil)
            async let second = pair.error(of: Ask.self, NoValues(), deadline: .seconds(50))
            await asked.reaches(2)
            pair.client.close()
            #expect(await first == .disconnected)
            #expect(await second == .disconnected)
            for continuation in held.entries { continuation.resume() }
        }
    }

    @Test func `ends when the connection is closed by whoever answers`() async throws {
        try await withPair { pair in
            let (client, server) = (pair.client, pair.server)
            pair.serve { $0.serve(Ask.self) { arguments, _ in arguments } }
            client.export(
                BusObject(
                    Sample.path,
                    [
                        {
                            var interface = BusInterface(Sample.interface)
                            // Inside of the connection's own dispatching.
                            interface.serve(Ask.self) { arguments, _ in
                                client.close()
                                return arguments
                            }
                            return interface
                        }()
                    ]))
            async let mine = pair.error(of: Ask.self, NoValues(), deadline: nil)
            async let theirs = server.error(of: Ask.self, at: client.uniqueName)
            let errors = await (mine, theirs)
            #expect([nil, .disconnected].contains(errors.0))
            #expect(errors.1 == .noReply)
        }
    }

    @Test func `on a closed connection is an error, and so is every later one`() async throws {
        try await withPair { pair in
            pair.client.close()
            pair.client.close()
            for _ in 0..<2 {
                #expect(await pair.error(of: Ask.self, NoValues()) == .disconnected)
            }
            pair.client.send(Told.self, Single("x"), from: Sample.path)
            pair.client.watchPeers { _ in }
        }
    }

    @Test func `ends when the bus dies, which is told once`() async throws {
        try await withPair { pair in
            let ended = Journal<Void>()
            pair.client.onDisconnect = { ended.add() }
            pair.serve { $0.serve(Ask.self) { _, _ in await never() } }
            async let answer = pair.error(of: Ask.self, NoValues(), deadline: nil)
            // The bus reads in order, so it has the call when it has answered this.
            _ = try await pair.client.credentials(
                of: pair.client.uniqueName, deadline: .seconds(30))
            kill(pair.bus.processID, SIGKILL)
            #expect(await answer == .disconnected)
            await ended.reaches(1)
            #expect(await pair.error(of: Ask.self, NoValues()) == .disconnected)
            pair.client.close()
            #expect(ended.entries.count == 1)
        }
    }

    @Test func `without wish for a reply gets none, and does no harm`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Ask.self) { arguments, _ in arguments } }
            let raw = try RawPeer(pair.bus)
            let server = pair.server.uniqueName.rawValue
            raw.send(.call(server, member: "Ask", noReply: true))
            raw.send(.call(server, member: "Unknown", noReply: true))
            let last = raw.send(.call(server, member: "Ask"))
            let reply = try #require(await raw.nextReply())
            #expect(reply.replySerial == last)
            #expect(reply.errorName == nil)
        }
    }

    @Test func `without an interface goes to whichever has the method`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Ask.self) { arguments, _ in arguments } }
            let raw = try RawPeer(pair.bus)
            let server = pair.server.uniqueName.rawValue
            for (member, error) in [
                ("Ask", nil), ("Introspect", nil),
                ("Unknown", "org.freedesktop.DBus.Error.UnknownMethod"),
            ] {
                raw.send(.call(server, interface: nil, member: member))
                #expect(try #require(await raw.nextReply()).errorName == error)
            }
        }
    }
}

/// Waits for ever; in the end it is gone with its connection.
@BusQueue private func never() async -> NoValues {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
    return NoValues()
}

extension BusConnection {
    fileprivate func error(of method: Ask.Type, at peer: UniqueName) async -> ErrorName? {
        do throws(BusError) {
            _ = try await call(
                method, NoValues(), of: .peer(peer), at: Sample.path, deadline: .seconds(30))
            return nil
        } catch {
            return error.name
        }
    }
}
