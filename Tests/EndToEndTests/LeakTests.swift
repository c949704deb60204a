// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct `Thousands of calls` {
    @Test func `leave nothing behind`() async throws {
        let (service, client) = try await enrolled()
        try await round(0..<20, service, client)
        let before = try await Figures(of: service, by: client)
        try await round(0..<200, service, client)
        let middle = try await Figures(of: service, by: client)
        for _ in 0..<2_000 { _ = try await client.can() }
        let after = try await Figures(of: service, by: client)
        print("after warm-up: \(before)")
        print("after 200 rounds of hit, miss, cancel and death: \(middle)")
        print("after 2,000 questions: \(after)")
        middle.expectNoMore(than: before)
        after.expectNoMore(than: middle, residentKiB: 2_048)
    }

    private func round(
        _ rounds: Range<Int>, _ service: TestService, _ client: TestClient
    ) async throws {
        for _ in rounds {
            // Hit
            try await touch(service.storage, by: client)
            // Miss and hit
            let second = evaluating(client)
            await client.fingerIsNeeded()
            try service.storage.send("SCAN other")
            await client.nextRetry()
            await client.fingerIsNeeded()
            try service.storage.send("SCAN mine")
            _ = try await second.value
            // Cancel
            let cancelled = evaluating(client)
            await client.fingerIsNeeded()
            try await client.cancel()
            #expect(await error(of: cancelled) == .appCancel)
            // Death
            let mortal = try await TestClient(service.bus)
            let lost = evaluating(mortal)
            await mortal.fingerIsNeeded()
            await mortal.close()
            _ = await lost.result
        }
    }
}
