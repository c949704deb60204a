// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// The daemon leaves when nobody needs it, and whoever calls just then does not notice.
@Suite(.timeLimit(.minutes(5))) struct `A daemon that leaves when it is idle` {
    /// What came of a number of exits.
    private struct Tally: CustomStringConvertible {
        var exits = 0
        var starts = 0
        var caught = 0
        var slowest = Duration.zero

        mutating func add(_ other: Tally) {
            exits += other.exits
            starts += other.starts
            caught += other.caught
            slowest = max(slowest, other.slowest)
        }

        var description: String {
            "\(exits) exits, \(starts) starts, \(caught) times caught while leaving, "
                + "slowest answer \(slowest)"
        }
    }

    @Test(arguments: [ActivatedService.World.daemonAlone, .daemonAndSystemd])
    func `loses no call, whenever that comes`(world: ActivatedService.World) async throws {
        try await race(in: world)
    }

    @Test(
        .enabled(
            if: PrivateBus.Program.broker.isUsable,
            "needs dbus-broker, and root for its namespace"))
    func `loses none on dbus-broker either`() async throws {
        try await race(in: .brokerAndSystemd)
    }

    private func race(in world: ActivatedService.World) async throws {
        var tally = Tally()
        try await withThrowingTaskGroup(of: Tally.self) { lanes in
            for lane in 0..<4 {
                lanes.addTask { try await race(in: world, rounds: 10, lane: lane) }
            }
            for try await result in lanes { tally.add(result) }
        }
        print("\(world): \(tally)")
        #expect(tally.exits >= 30)
        #expect(tally.slowest < .seconds(5))
    }

    /// Calls around the moment of the exit, again and again.
    private func race(
        in world: ActivatedService.World, rounds: Int, lane: Int
    ) async throws -> Tally {
        let service = try await ActivatedService(world)
        let client = try await TestClient(service.bus)
        let owner = await OwnerWatch(client)
        var tally = Tally()
        // How long after the first answer the name goes: measured, then aimed at.
        var delay = Duration.seconds(1)
        for round in 0..<rounds {
            try await call(client, &tally)
            let start = ContinuousClock.now
            if round >= 2 {
                // From some milliseconds before to some after, each lane at its own places.
                let place = Double((round - 2) * 4 + lane) / Double((rounds - 2) * 4)
                try await Task.sleep(
                    until: start + delay + .microseconds(Int(-3_000 + 6_000 * place)),
                    tolerance: .zero)
                try await call(client, &tally)
            }
            // Until it is gone for good: nobody calls any more.
            await owner.waitUntilGone()
            if round < 2 { delay = .now - start }
            tally.exits += 1
        }
        tally.starts = service.starts
        tally.caught = service.log.components(separatedBy: "called while leaving").count - 1
        await service.systemd?.close()
        await client.close()
        return tally
    }

    private func call(_ client: TestClient, _ tally: inout Tally) async throws {
        let start = ContinuousClock.now
        // There is a reader, and nothing is enrolled: a proper answer.
        #expect(try await client.can().code == -7)
        tally.slowest = max(tally.slowest, .now - start)
    }
}

/// Whether somebody has the service's name, each time that this changes.
@BusQueue private final class OwnerWatch {
    private let changes = Happenings<Bool>()
    private let service: RemoteService

    init(_ client: TestClient) {
        let changes = changes
        service = RemoteService(Service.name, on: client.connection)
        service.onOwnerChange = { owner in changes.note(owner != nil) }
    }

    /// Returns when nobody has the name, or the test's time is over.
    func waitUntilGone() async {
        while changes.all.last != false, await changes.next() != nil {}
    }
}
