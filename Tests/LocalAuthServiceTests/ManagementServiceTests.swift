// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)

@Suite(.timeLimit(.minutes(1))) struct `The service, managing prints` {
    @Test func `enrols a finger in place of an older print of it`() async throws {
        try await withService { fixture, client in
            fixture.readers.template = [9]
            async let failure = ending {
                try await client.enrol("right-index-finger")
            }
            #expect(
                await client.nextStage() == .enrolled(token: "", done: 0, total: 5, cause: ""))
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await failure == nil)
            #expect(
                fixture.prints.prints
                    == [StoredPrint(id: StoredPrint.sample.id, template: [9])])
            #expect(
                fixture.readers.calls.entries == ["open 1", "enrol 1", "delete 1", "close 1"])
            let fingers = try await client.list()
            #expect(fingers == ["right-index-finger"])
        }
    }

    @Test func `takes the reader's copy back when the print cannot be saved`() async throws {
        try await withService { fixture, client in
            fixture.prints.saveFailure = .io(28)
            async let failure = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await failure == "StorageFailed")
            #expect(fixture.prints.prints == [.sample])
            #expect(
                fixture.readers.calls.entries == [
                    "open 1", "recognise 1 alice/7", "enrol 1", "delete 1", "close 1",
                ])
        }
    }

    @Test(arguments: [
        (ReaderFailure.duplicate, "FingerAlreadyEnrolled"), (.storageFull, "ReaderStorageFull"),
        (.io, "EnrollmentFailed"), (.removed, "BiometryNotAvailable"),
    ])
    func `says why a reader could not enrol`(failure: ReaderFailure, name: String) async throws {
        try await withService { fixture, client in
            async let end = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.end(reader, .failure(failure))
            #expect(await end == name)
            #expect(fixture.readers.calls.entries.last == "close 1")
        }
    }

    @Test func `changes nothing where a password would have to be asked for`() async throws {
        try await withService(asksForPassword: true) { fixture, client in
            #expect(await ending { try await client.enrol("left-thumb") } == "NotInteractive")
            #expect(await ending { try await client.delete() } == "NotInteractive")
            #expect(fixture.readers.calls.entries == [])
            #expect(fixture.prints.prints == [.sample])
        }
    }

    @Test func `asks root for no password, and not where it sits`() async throws {
        try await withService(as: .root, asksForPassword: true) { fixture, client in
            fixture.sessions.presence = .absent
            async let failure = ending {
                try await client.enrol("left-thumb", user: "alice")
            }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await failure == nil)
            #expect(fixture.authority.questions.entries == [.manageOthers])
        }
    }

    @Test func `ends an enrolment with its caller`() async throws {
        try await withService { fixture, client in
            let other = try await fixture.connect()
            async let failure = ending { try await other.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            other.close()
            #expect(await failure == "Disconnected")
            await fixture.readers.calls.has("close 1")
            #expect(fixture.prints.prints == [.sample])
            async let next = client.evaluate()
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, .matched(StoredPrint.sample.id))
            #expect(try await next["method"] == .string("biometrics"))
        }
    }

    @Test func `ends an enrolment that nobody touches the reader for`() async throws {
        var settings = ServiceSettings()
        settings.enrolmentPatience = .milliseconds(20)
        try await withService(settings: settings) { fixture, client in
            #expect(await ending { try await client.enrol("left-thumb") } == "Timeout")
            #expect(
                fixture.readers.calls.entries == [
                    "open 1", "recognise 1 alice/7", "enrol 1", "cancel 1", "close 1",
                ])
        }
    }

    @Test func `ends an enrolment when it stops`() async throws {
        try await withService { fixture, client in
            async let failure = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            await fixture.service.stop()
            #expect(await failure == "SystemCancel")
            #expect(await ending { try await client.list() } == "SystemCancel")
        }
    }

    @Test func `deletes from reader and disk`() async throws {
        try await withService { fixture, client in
            #expect(await ending { try await client.delete(["left-thumb"]) } == "NoSuchFinger")
            #expect(await ending { try await client.delete(["toe"]) } == "InvalidArgs")
            #expect(fixture.readers.calls.entries == [])
            try await client.delete(["right-index-finger"])
            #expect(fixture.readers.calls.entries == ["open 1", "delete 1", "close 1"])
            #expect(fixture.prints.prints == [])
            #expect(try await client.list() == [])
            // All of nothing is nothing.
            try await client.delete()
            let code = try await client.can().code
            #expect(code == -7)
        }
    }

    @Test func `takes a failed look-up for no list`() async throws {
        try await withService { fixture, client in
            fixture.prints.failure = .io(5)
            #expect(await ending { try await client.list() } == "StorageFailed")
            let code = try await client.can().code
            #expect(code == -6)
        }
    }

    @Test func `forgets misses for whom the authority lets`() async throws {
        try await withService { fixture, client in
            fixture.lockouts.readings[.bob] = .unreadable
            fixture.authority.decision = .denied
            #expect(await ending { try await client.resetLockout(user: "bob") } == "NotAuthorized")
            fixture.authority.decision = .granted
            try await client.resetLockout(user: "bob")
            #expect(fixture.lockouts.readings[.bob] == .record(LockoutRecord()))
            #expect(await ending { try await client.resetLockout(user: "eve") } == "InvalidArgs")
            #expect(
                fixture.authority.questions.entries == [
                    .resetLockout, .resetLockout, .resetLockout,
                ])
        }
    }
}
