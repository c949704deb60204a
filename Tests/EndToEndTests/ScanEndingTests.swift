// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The ending of a scan` {
    @Test(arguments: [TestService.Reader.storage, .device])
    func `that was no good names the cause and costs nothing`(
        kind: TestService.Reader
    ) async throws {
        let (service, client) = try await enrolled(on: kind)
        let evaluation = evaluating(client, "one")
        let causes = ["general", "too-short", "not-centered", "remove-finger"]
        await client.fingerIsNeeded()
        for round in 0..<10 {
            try service.reader(kind).send("RETRY \(round % 4)")
            #expect(
                await client.nextRetry()
                    == .retry(token: "one", cause: causes[round % 4], attemptsLeft: 3))
        }
        try service.reader(kind).send("SCAN mine")
        #expect(try await evaluation.value["method"] == .string("biometrics"))
        #expect(try await client.attemptsLeft() == 5)
    }

    @Test func `that was no good for a reason of a later libfprint costs nothing either`()
        async throws
    {
        let scratch = try Scratch()
        let library = try await preloadLibrary("odd-retries", in: scratch)
        let service = try await TestService(.device, environment: ["LD_PRELOAD": library])
        let client = try await TestClient(service.bus)
        let enrolment = Task { try await client.enrol("left-thumb") }
        await client.nextStage()
        try service.device.send("RETRY 1")
        #expect(
            await client.nextStage() == .enrolled(token: "", done: 0, total: 5, cause: "general"))
        for _ in 0..<5 {
            try service.device.send("SCAN mine")
            await client.nextStage()
        }
        try await enrolment.value
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        try service.device.send("RETRY 1")
        #expect(await client.nextRetry() == .retry(token: "", cause: "general", attemptsLeft: 3))
        try service.device.send("SCAN mine")
        #expect(try await evaluation.value["method"] == .string("biometrics"))
    }

    @Test func `by a fault of the reader is no miss`() async throws {
        let (service, client) = try await enrolled()
        let endings: [(code: Int, ServiceError)] = [
            (0, .biometryNotAvailable), (1, .biometryNotAvailable), (4, .readerBusy),
            (5, .biometryNotAvailable), (6, .biometryNotAvailable), (7, .biometryNotAvailable),
            (8, .biometryNotAvailable), (257, .biometryNotAvailable),
            (256, .biometryNotAvailable),
        ]
        for (code, expected) in endings {
            // After a miss, so that a refund would be seen as well as a charge.
            let evaluation = evaluating(client)
            await client.fingerIsNeeded()
            try service.storage.send("SCAN other")
            await client.nextRetry()
            await client.fingerIsNeeded()
            try service.storage.send("ERROR \(code)")
            #expect(await error(of: evaluation) == expected, "error \(code)")
            #expect(try await client.attemptsLeft() == 4, "error \(code)")
            if code != 256 { try await touch(service.storage, by: client) }
        }
        #expect(service.daemon.isRunning)
    }

    @Test func `by the plug is told to everybody`() async throws {
        let (service, client) = try await enrolled()
        let (removed, feed) = AsyncStream<ObjectPath>.makeStream()
        await client.service.onSignal(InterfacesRemoved.self) { signal, _ in
            feed.yield(signal.path)
        }
        let other = try await TestClient(service.bus)
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        let queued = evaluating(other)
        await other.next { $0 == .progress(token: "", state: "queued") }
        try service.storage.send("UNPLUG")
        var paths = removed.makeAsyncIterator()
        #expect(await paths.next() == Service.readerPath(1))
        #expect(await error(of: evaluation) == .biometryNotAvailable)
        // Its prints are there, but no reader any more.
        #expect(await error(of: queued) == .biometryDisconnected)
        await client.next { $0 == .environmentChanged }
        #expect(try await client.can().code == -13)
        #expect(await error(of: evaluating(client)) == .biometryDisconnected)
        let objects = try await client.call(GetManagedObjects.self, NoValues()).value
        #expect(!objects.keys.contains(Service.readerPath(1)))
        #expect(try await client.environment()["readers"] == .objectPaths([]))
        #expect(try await client.attemptsLeft() == 5)
    }

    @Test func `by the clock is a time-out and costs nothing`() async throws {
        let (service, client) = try await enrolled()
        let start = ContinuousClock.now
        let evaluation = evaluating(client, options: ["timeout": .uint32(1)])
        #expect(await error(of: evaluation) == .timeout)
        #expect(ContinuousClock.now - start >= .seconds(1))
        try await service.storage.waitUntilClosed()
        #expect(try await client.attemptsLeft() == 5)
        try await touch(service.storage, by: client)
    }
}
