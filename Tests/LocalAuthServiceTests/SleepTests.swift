// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)
private let match = ScanVerdict.matched(StoredPrint.sample.id)

@Suite(.timeLimit(.minutes(1))) struct `The service, when the machine sleeps` {
    @Test func `answers everybody and closes the reader first`() async throws {
        try await withService { fixture, client in
            async let running = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            let other = try await fixture.connect()
            async let queued = ending { try await other.evaluate() }
            await other.next { $0 == .progress(token: "", state: "queued") }
            await fixture.machine.fallAsleep()
            #expect(await running == "SystemCancel")
            #expect(await queued == "SystemCancel")
            #expect(
                fixture.readers.calls.entries
                    == ["open 1", "scan 1", "cancel 1", "close 1", "suspend"])
        }
    }

    @Test func `opens nothing until it is awake, and works at the first try then`() async throws {
        try await withService { fixture, client in
            await fixture.machine.fallAsleep()
            #expect(try await client.can().code == -6)
            #expect(await ending { try await client.evaluate() } == "BiometryNotAvailable")
            #expect(
                await ending { try await client.enrol("left-thumb") } == "BiometryNotAvailable")
            #expect(fixture.readers.calls.entries == ["suspend"])
            #expect(!fixture.service.isIdle)
            client.forgetHeard()
            await fixture.machine.wakeUp()
            await client.next { $0 == .environmentChanged }
            #expect(try await client.can().canEvaluate)
            async let result = client.evaluate()
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, match)
            let values = try await result
            #expect(values["method"] == .string("biometrics"))
            #expect(fixture.readers.calls.entries.prefix(2) == ["suspend", "resume"])
        }
    }

    @Test func `does not wait for a driver that does not end its work`() async throws {
        try await withService { fixture, client in
            fixture.readers.endsWhenCancelled = false
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            let start = ContinuousClock.now
            await fixture.machine.fallAsleep()
            #expect(ContinuousClock.now - start < .seconds(3))
            #expect(await failure == "SystemCancel")
            #expect(fixture.readers.calls.entries.last == "suspend")
            await fixture.machine.wakeUp()
            fixture.readers.end(reader, .failure(.busy))
            await fixture.readers.calls.has("close 1")
        }
    }

    @Test func `ends an enrolment, and what waits for its turn`() async throws {
        try await withService { fixture, client in
            async let enrolling = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            let other = try await fixture.connect()
            async let waiting = ending { try await other.enrol("right-thumb") }
            _ = try await other.environment()
            await fixture.machine.fallAsleep()
            #expect(await enrolling == "SystemCancel")
            #expect(await waiting == "SystemCancel")
            #expect(fixture.readers.calls.entries.suffix(2) == ["close 1", "suspend"])
            #expect(fixture.prints.prints == [.sample])
        }
    }

    @Test func `leaves no question of polkit's open`() async throws {
        try await withService { fixture, client in
            fixture.authority.isHeld = true
            async let failure = ending { try await client.evaluate() }
            await fixture.authority.questions.reaches(1)
            await fixture.machine.fallAsleep()
            #expect(await failure == "SystemCancel")
            fixture.authority.answer(.granted)
            await fixture.machine.wakeUp()
            #expect(!fixture.readers.calls.entries.contains("open 1"))
        }
    }

    @Test func `waits for a reader that comes back after its power was off`() async throws {
        try await withService { fixture, client in
            _ = try await client.can()
            await fixture.machine.fallAsleep()
            fixture.readers.change(.removed(reader))
            await fixture.machine.wakeUp()
            // It will be there before anybody has put a finger on it.
            #expect(try await client.can().canEvaluate)
            async let result = client.evaluate()
            _ = try await client.environment()
            #expect(!fixture.readers.calls.entries.contains("open 1"))
            fixture.readers.change(.added(.sample(2)))
            await fixture.readers.calls.has("scan 2")
            fixture.readers.touch(ReaderID(2), match)
            let values = try await result
            #expect(values["method"] == .string("biometrics"))
        }
    }

    @Test func `does not wait for ever for a reader that is gone`() async throws {
        try await withService { fixture, client in
            _ = try await client.can()
            await fixture.machine.fallAsleep()
            fixture.readers.change(.removed(reader))
            await fixture.machine.wakeUp()
            #expect(await ending { try await client.evaluate() } == "BiometryDisconnected")
            #expect(try await client.can().code == -13)
            // Unplugged in broad daylight is gone at once.
            fixture.readers.change(.added(.sample(3)))
            #expect(try await client.can().canEvaluate)
            fixture.readers.change(.removed(ReaderID(3)))
            #expect(try await client.can().code == -13)
        }
    }
}
