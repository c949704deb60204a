// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Cancelling` {
    @Test(arguments: [true, false])
    func `is answered at once, whatever the driver does`(driverListens: Bool) async throws {
        let (service, client) = try await enrolled()
        let evaluation = evaluating(client, "one")
        await client.fingerIsNeeded()
        if !driverListens { try service.storage.send("SET_CANCELLATION_ENABLED 0") }
        let start = ContinuousClock.now
        try await client.cancel("one")
        #expect(await error(of: evaluation) == .appCancel)
        let time = ContinuousClock.now - start
        print("cancelled in \(time), driver listens: \(driverListens)")
        #expect(time < .seconds(3))
        try await client.cancel("one")
        try await client.cancel()

        // The next one waits for the driver, and no leftover answers it.
        let next = evaluating(client, "two")
        if !driverListens {
            await client.next { $0 == .progress(token: "two", state: "queued") }
            // A touch for nobody, with which the driver notices the cancel.
            try service.storage.send("SCAN mine")
        }
        await client.next { $0 == .progress(token: "two", state: "waiting-for-finger") }
        try service.storage.send("SCAN mine")
        #expect(try await next.value["token"] == .string("two"))
        #expect(try await client.attemptsLeft() == 5)
    }

    @Test func `by a token ends those that carry it, and by a stranger none`() async throws {
        let (service, client) = try await enrolled()
        let stranger = try await TestClient(service.bus)
        let running = evaluating(client, "one")
        await client.fingerIsNeeded()
        let waiting = evaluating(client, "two")
        await client.next { $0 == .progress(token: "two", state: "queued") }
        try await client.cancel("three")
        try await stranger.cancel()
        try await stranger.cancel("one")
        if OtherAccount.canBe {
            let line = busctl(service, "Cancel", ["s", ""])
            #expect(try await run(line, as: .alice).status == 0)
        }
        try await client.cancel("two")
        #expect(await error(of: waiting) == .appCancel)
        try service.storage.send("SCAN mine")
        #expect(try await running.value["token"] == .string("one"))
    }

    @Test func `reaches an evaluation that was asked for just before`() async throws {
        let (service, _) = try await enrolled()
        for _ in 0..<20 {
            // The service does not know this connection yet.
            let client = try await TestClient(service.bus)
            let evaluation = await evaluateAndCancel(client)
            #expect(await error(of: evaluation) == .appCancel)
            await client.close()
        }
    }

    /// Sends the two calls one behind the other, without waiting in between.
    @BusQueue private func evaluateAndCancel(
        _ client: TestClient
    ) async -> Task<[String: BusValue], any Error> {
        let evaluation = Task.immediate { @BusQueue in try await client.evaluate() }
        let cancel = Task.immediate { @BusQueue in try await client.cancel() }
        _ = await cancel.result
        return evaluation
    }

    @Test func `that races with a match gives one answer`() async throws {
        let (service, client) = try await enrolled()
        var endings: [String: Int] = [:]
        for round in 0..<50 {
            let evaluation = evaluating(client)
            await client.fingerIsNeeded()
            let reader = service.storage
            // Now the cancel is first, now the match.
            if round.isMultiple(of: 2) {
                async let cancelled: Void = client.cancel()
                // When the cancel has won already, the reader is closed and nobody takes it.
                _ = try? VirtualSocket.command(
                    "SCAN mine", to: reader.path, wait: .milliseconds(200))
                try await cancelled
            } else {
                try reader.send("SCAN mine")
                try await client.cancel()
            }
            switch await evaluation.result {
            case .success(let result):
                #expect(result["method"] == .string("biometrics"))
                endings["match", default: 0] += 1
            case .failure(let error as BusError):
                #expect(ServiceError(error.name) == .appCancel)
                endings["cancel", default: 0] += 1
            case .failure(let error): throw error
            }
        }
        print("races of cancel and match: \(endings)")
        #expect(try await client.attemptsLeft() == 5)
        try await touch(service.storage, by: client)
    }
}
