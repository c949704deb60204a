// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.serialized, .timeLimit(.minutes(2))) struct `Ten thousand callers that leave at once` {
    @Test func `leave nothing behind`() async throws {
        let service = try await TestService(.storage)
        let client = try await TestClient(service.bus)
        #expect(try await client.can().code == -7)
        let gone = try await Leaving(service.bus)
        for _ in 0..<4 { try await leave(500, service, client, gone) }
        let before = try await Figures(of: service, by: client)
        let begun = ContinuousClock.now
        for _ in 0..<20 { try await leave(500, service, client, gone) }
        let after = try await Figures(of: service, by: client)
        print("10,000 callers that leave, in \(ContinuousClock.now - begun): \(before) -> \(after)")
        // Half a kilobyte each would be more.
        after.expectNoMore(than: before, residentKiB: 5_000)
        let evaluations = service.logCount("evaluation ended")
        print("of 12,000 callers, \(evaluations) were heard by the daemon")
        // The bus may drop what one who has left had to say.
        #expect(evaluations > 6_000)
        #expect(!FileManager.default.fileExists(atPath: service.storage.path))
        // Nobody is in the way of the next.
        try await enrol(on: service, by: client)
        try await touch(service.storage, by: client)
        await gone.close()
        // And whatever went on would end now, with a line.
        service.daemon.signal(SIGTERM)
        #expect(await service.daemon.wait() == 0)
        #expect(service.logCount("result=systemCancel") == 0)
    }

    /// Waits for the daemon now and then: what it has not read yet takes memory too.
    private func leave(
        _ count: Int, _ service: TestService, _ client: TestClient, _ gone: Leaving
    ) async throws {
        let bus = service.bus
        let already = await gone.names.entries.count
        try await blocking {
            let caller = try RawCaller(bus)
            for _ in 0..<count / 25 { try caller.callAndLeave(25) }
        }
        await gone.names.reaches(already + count)
        // Answered after what came before.
        #expect(try await client.can().code == -7)
    }

    @Test(.enabled(if: OtherAccount.canBe, "only root can be somebody else"))
    func `are never taken for root`() async throws {
        let (service, client) = try await enrolled()
        try await touch(service.storage, by: client)
        let roots = service.logCount("uid=0")
        let ended = service.logCount("evaluation ended")
        try FileManager.default.removeItem(atPath: service.storage.path)
        let gone = try await Leaving(service.bus)
        for option in ["yes", "no"] {
            let line = busctl(
                service, "EvaluatePolicy", ["usa{sv}", "1", "leave", "0"],
                options: ["--expect-reply=\(option)"])
            // A shell, so that a hundred callers are one process for us.
            let script = #"for n in $(seq 100); do timeout 10 "$0" "$@" >&2; done; true"#
            let result = try await run(["/bin/sh", "-c", script] + line, as: .alice)
            #expect(result.status == 0)
        }
        await gone.names.reaches(200)
        _ = try await client.can()
        // The bus may drop what one who has left had to say.
        let heard = service.logCount("evaluation ended") - ended
        #expect((150...200).contains(heard), "\(heard)")
        // Root's finger is the only one: whoever is taken for root gets the reader opened.
        #expect(service.logCount("uid=0") == roots)
        #expect(!FileManager.default.fileExists(atPath: service.storage.path))
        try await touch(service.storage, by: client)
        await gone.close()
    }
}

/// Who has left the bus.
@BusQueue private final class Leaving {
    let names = Journal<UniqueName>()
    private let connection: BusConnection

    init(_ bus: PrivateBus) async throws {
        connection = try BusConnection(address: bus.address)
        connection.watchPeers { [names] in names.add($0) }
        // From now on each is told of.
        _ = try await connection.credentials(of: connection.uniqueName, deadline: .seconds(30))
    }

    func close() { connection.close() }
}
