// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A stubborn reader` {
    @Test func `that fails again and again is left alone for a while`() async throws {
        let (service, client) = try await enrolled()
        for _ in 0..<3 {
            let evaluation = evaluating(client)
            await client.fingerIsNeeded()
            try service.storage.send("ERROR 0")
            #expect(await error(of: evaluation) == .biometryNotAvailable)
            try await service.storage.waitUntilClosed()
        }
        #expect(try await client.can().code == -6)
        #expect(await error(of: evaluating(client)) == .biometryNotAvailable)
        #expect(!service.storage.isOpen)
        // Its rest is over in a second, and it is tried again.
        try await client.waitUntilCan(0)
        let fourth = evaluating(client)
        await client.fingerIsNeeded()
        try service.storage.send("ERROR 5")
        #expect(await error(of: fourth) == .biometryNotAvailable)
        #expect(try await client.can().code == -6)
        // Longer this time; and good is good.
        try await client.waitUntilCan(0)
        try await touch(service.storage, by: client)
        try await service.storage.waitUntilClosed()
        try await touch(service.storage, by: client)
        #expect(try await client.attemptsLeft() == 5)
    }

    @Test func `that cannot be opened does not keep a good one from serving`() async throws {
        let (service, client) = try await enrolledOnTwo()
        // A touch on the good one ends the evaluation, in which the other one is told to stay
        // reachable and to fail the next time that it is opened.
        let evaluation = evaluating(client)
        try await service.storage.sendWhenOpen("SET_KEEP_ALIVE 1")
        try await service.device.sendWhenOpen("SCAN verified")
        _ = try await evaluation.value
        // Whoever stands in line behind it is answered when both readers are closed: the error must
        // not meet a close.
        #expect(
            await errorName { () throws(BusError) in try await client.delete(["right-thumb"]) }
                == ServiceError.noSuchFinger.name)
        try service.storage.send("ERROR 5")
        let next = evaluating(client)
        try await service.device.sendWhenOpen("SCAN verified")
        #expect(try await next.value["method"] == .string("biometrics"))
        // It may have answered before the other one had failed.
        while service.logCount("opening a reader failed") == 0 {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try await client.attemptsLeft() == 5)
    }

    @Test func `that does not let go keeps nobody from the other one`() async throws {
        let (service, client) = try await enrolledOnTwo()
        let evaluation = evaluating(client)
        try await service.storage.sendWhenOpen("SET_CANCELLATION_ENABLED 0")
        try await service.device.sendWhenOpen("SCAN verified")
        #expect(try await evaluation.value["method"] == .string("biometrics"))
        // The first reader scans on, for nobody. The next one waits for it, but not for ever.
        let next = evaluating(client, "next")
        await client.next { $0 == .progress(token: "next", state: "queued") }
        let start = ContinuousClock.now
        await client.next { $0 == .progress(token: "next", state: "waiting-for-finger") }
        print("served \(ContinuousClock.now - start) after the other reader did not let go")
        try await service.device.sendWhenOpen("SCAN verified")
        #expect(try await next.value["method"] == .string("biometrics"))
        #expect(service.logCount("a reader does not let go") == 1)

        // A touch there now answers nobody; the driver notices that it was cancelled.
        try service.storage.send("SCAN stored")
        try await service.storage.waitUntilClosed()
        try await service.device.waitUntilClosed()
        let last = evaluating(client)
        try await service.storage.sendWhenOpen("SCAN stored")
        #expect(try await last.value["method"] == .string("biometrics"))
        #expect(try await client.attemptsLeft() == 5)
    }

    @Test func `that is the only one and does not let go is not available meanwhile`() async throws
    {
        let (service, client) = try await enrolled()
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        try service.storage.send("SET_CANCELLATION_ENABLED 0")
        try await client.cancel()
        #expect(await error(of: evaluation) == .appCancel)
        // In line until the first one's turn is over.
        #expect(await error(of: evaluating(client)) == .biometryNotAvailable)
        #expect(try await client.can().code == -6)
        try service.storage.send("SCAN mine")
        try await client.waitUntilCan(0)
        try await service.storage.waitUntilClosed()
        try await touch(service.storage, by: client)
    }

    /// A daemon with two readers; the client has a finger on each: `stored` and `verified`.
    private func enrolledOnTwo() async throws -> (TestService, TestClient) {
        let service = try await TestService(.storage, .device)
        let client = try await TestClient(service.bus)
        for (number, kind) in try await service.readerNumbers(client) {
            try await enrol(
                "left-thumb", as: kind == .storage ? "stored" : "verified", on: service,
                by: client, reader: service.reader(kind), number: number)
        }
        try await service.storage.waitUntilClosed()
        try await service.device.waitUntilClosed()
        return (service, client)
    }
}
