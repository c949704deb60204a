// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import TestKit

/// The daemon on a machine with a lid that sleeps, as a logind of the test's own has it; the client
/// sits there, and its finger `mine` is enrolled.
struct MachineScene {
    static let configuration = """
        [Authorization]
        Authority=local
        """

    let logind: FakeLogind
    let service: TestService
    let client: TestClient

    let reader: VirtualReader

    init(on kind: TestService.Reader = .storage) async throws {
        let bus = try await PrivateBus()
        logind = try await FakeLogind(bus)
        await logind.add("c1")
        await logind.place(getpid(), in: "c1")
        service = try await TestService(kind, configuration: Self.configuration, bus: bus)
        client = try await TestClient(bus)
        reader = service.reader(kind)
        try await enrol(on: service, by: client, reader: reader)
        try await reader.waitUntilClosed()
        await logind.inhibitorCounts.next { $0 == 1 }
    }

    /// Says that the machine is about to sleep; how long it had to wait for the daemon.
    func fallAsleep() async -> Duration {
        let start = ContinuousClock.now
        await logind.prepareForSleep(true)
        await logind.inhibitorCounts.next { $0 == 0 }
        return .now - start
    }

    /// Says that the machine is awake; returns when the daemon would be waited for again.
    func wakeUp() async {
        await logind.refuseInhibitors(false)
        await logind.prepareForSleep(false)
        await logind.inhibitorCounts.next { $0 == 1 }
    }
}

extension FakeLogind {
    func refuseInhibitors(_ refuses: Bool) { refusesInhibitors = refuses }
}
