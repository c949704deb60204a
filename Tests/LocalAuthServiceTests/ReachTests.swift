// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let builtIn = ReaderID(1)
private let plugged = ReaderID(2)
private let match = ScanVerdict.matched(StoredPrint.sample.id)
private let closed = LidState(isClosed: true, isDocked: false)

@Suite(.timeLimit(.minutes(1))) struct `The service, under the lid` {
    @Test func `ends the scan on what nobody can get at, and begins none`() async throws {
        try await withService(present: [.sample(1, .builtIn)]) { fixture, client in
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            fixture.machine.move(closed)
            #expect(await failure == "BiometryNotAvailable")
            await fixture.readers.calls.has("close 1")
            let code = try await client.can().code
            #expect(code == -6)
            let isInaccessible = try await client.environment()["sensor-inaccessible"]
            #expect(isInaccessible == .bool(true))
            #expect(await ending { try await client.evaluate() } == "BiometryNotAvailable")
            #expect(
                await ending { try await client.enrol("left-thumb") } == "BiometryNotAvailable")
            #expect(fixture.readers.calls.entries.count { $0 == "open 1" } == 1)
            fixture.machine.move(.open)
            let canNow = try await client.can().canEvaluate
            #expect(canNow)
            let isStillInaccessible = try await client.environment()["sensor-inaccessible"]
            #expect(isStillInaccessible == .bool(false))
        }
    }

    @Test func `goes on with the reader that is plugged in`() async throws {
        let present: [ReaderDescription] = [.sample(1, .builtIn), .sample(2, .external)]
        try await withService(present: present) { fixture, client in
            async let result = client.evaluate()
            await fixture.readers.calls.has("scan 1")
            await fixture.readers.calls.has("scan 2")
            fixture.machine.move(closed)
            await fixture.readers.calls.has("close 1")
            fixture.readers.touch(plugged, match)
            let values = try await result
            #expect(values["method"] == .string("biometrics"))

            async let second = client.evaluate()
            await fixture.readers.calls.has("scan 2", times: 2)
            fixture.readers.touch(plugged, match)
            _ = try await second
            #expect(fixture.readers.calls.entries.count { $0 == "open 1" } == 1)
        }
    }

    @Test func `ends an enrolment there`() async throws {
        try await withService(present: [.sample(1, .builtIn)]) { fixture, client in
            async let failure = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            fixture.machine.move(closed)
            #expect(await failure == "BiometryNotAvailable")
            #expect(fixture.readers.calls.entries.last == "close 1")
        }
    }

    @Test func `enrols on the reader that can be got at, if none is named`() async throws {
        let present: [ReaderDescription] = [.sample(1, .builtIn), .sample(2, .external)]
        try await withService(present: present) { fixture, client in
            fixture.machine.move(closed)
            async let failure = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 2")
            fixture.readers.touch(plugged, .missed)
            #expect(await failure == nil)
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The service, with readers out of order` {
    @Test func `leaves one alone that fails again and again, for a while`() async throws {
        try await withService { fixture, client in
            for number in 1...3 {
                async let failure = ending { try await client.evaluate() }
                await fixture.readers.calls.has("scan 1", times: number)
                fixture.readers.end(builtIn, .failure(.io))
                #expect(await failure == "BiometryNotAvailable")
                await fixture.readers.calls.has("close 1", times: number)
            }
            #expect(try await client.can().code == -6)
            #expect(await ending { try await client.evaluate() } == "BiometryNotAvailable")
            #expect(fixture.readers.calls.entries.count { $0 == "open 1" } == 3)
            #expect(!fixture.service.isIdle, "the reader's rest would be forgotten")
            while try await client.can().code != 0 {
                await client.next { $0 == .environmentChanged }
            }
            async let result = client.evaluate()
            await fixture.readers.calls.has("scan 1", times: 4)
            fixture.readers.touch(builtIn, match)
            _ = try await result
            #expect(fixture.service.isIdle)
        }
    }

    @Test func `counts readers that cannot be opened`() async throws {
        try await withService { fixture, client in
            fixture.readers.openFailure = .io
            for _ in 1...3 {
                #expect(await ending { try await client.evaluate() } == "BiometryNotAvailable")
            }
            #expect(await ending { try await client.enrol("left-thumb") } == "BiometryNotAvailable")
            #expect(fixture.readers.calls.entries.count { $0 == "open 1" } == 3)
        }
    }

    private var impatient: ServiceSettings {
        var settings = ServiceSettings()
        settings.driverPatience.cancelling = .milliseconds(50)
        settings.driverPatience.working = .milliseconds(50)
        return settings
    }

    @Test func `does not let one driver that never lets go keep the others waiting`() async throws {
        let present: [ReaderDescription] = [.sample(1), .sample(2, .unknown, device: "2")]
        try await withService(settings: impatient, present: present) { fixture, client in
            fixture.readers.endsWhenCancelled = false
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            try await client.cancel()
            #expect(await failure == "AppCancel")
            while try await client.can().code != -6 {
                await client.next { $0 == .environmentChanged }
            }
            #expect(fixture.service.isIdle, "to leave would be the cure")

            // Another finger, on the other reader.
            fixture.prints.prints.append(
                StoredPrint(id: .sample(.leftThumb, on: "2"), template: [2]))
            fixture.prints.announceChange(of: Account.alice.name)
            async let result = client.evaluate()
            await fixture.readers.calls.has("scan 2")
            fixture.readers.touch(plugged, .matched(.sample(.leftThumb, on: "2")))
            let values = try await result
            #expect(values["method"] == .string("biometrics"))

            // A miss that the first one tells at last is charged, and it is fit again.
            fixture.readers.touch(builtIn, .missed)
            await fixture.lockouts.writes.reaches(1)
            await fixture.readers.calls.has("close 1")
            #expect(try await client.environment()["attempts-left"] == .uint32(4))
        }
    }

    @Test func `answers who enrols on a driver that never lets go`() async throws {
        try await withService(settings: impatient) { fixture, client in
            fixture.readers.endsWhenCancelled = false
            let mortal = try await fixture.connect()
            async let lost = ending { try await mortal.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            mortal.close()
            #expect(await lost == "Disconnected")
            // Whoever comes next is told, and waits for nothing.
            #expect(
                await ending { try await client.enrol("left-thumb") } == "BiometryNotAvailable")
            fixture.readers.end(builtIn, .failure(.cancelled))
            await fixture.readers.calls.has("close 1")
            while try await client.can().code != 0 {
                await client.next { $0 == .environmentChanged }
            }
        }
    }

    @Test func `enrols nothing any more on a driver that opens too late`() async throws {
        try await withService(settings: impatient) { fixture, client in
            fixture.readers.isOpeningHeld = true
            #expect(
                await ending { try await client.enrol("left-thumb") } == "BiometryNotAvailable")
            #expect(try await client.can().code == -6)
            fixture.readers.isOpeningHeld = false
            fixture.readers.finishOpening()
            await fixture.readers.calls.has("close 1")
            #expect(fixture.readers.calls.entries == ["open 1", "close 1"])
            while try await client.can().code != 0 {
                await client.next { $0 == .environmentChanged }
            }
            #expect(fixture.prints.prints == [.sample])
        }
    }
}
