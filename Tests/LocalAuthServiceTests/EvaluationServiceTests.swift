// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)
private let match = ScanVerdict.matched(StoredPrint.sample.id)

@Suite(.timeLimit(.minutes(1))) struct `The service, evaluating` {
    @Test func `succeeds with a match and lets the reader go`() async throws {
        try await withService { fixture, client in
            #expect(try await client.can().canEvaluate)
            async let result = client.evaluate(["token": .string("t")])
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, match)
            let values = try await result
            #expect(values["method"] == .string("biometrics"))
            #expect(values["token"] == .string("t"))
            #expect(values["policy"] == .uint32(1))
            #expect(
                Set(values.keys) == [
                    "method", "policy", "token", "authenticated-at", "domain-state",
                ])
            await fixture.readers.calls.has("close 1")
            #expect(fixture.readers.calls.entries == ["open 1", "scan 1", "close 1"])
        }
    }

    @Test func `says that a finger is wanted although the reader never does`() async throws {
        try await withService { fixture, client in
            fixture.readers.isSilent = true
            async let result = client.evaluate()
            await client.fingerIsNeeded()
            fixture.readers.touch(reader, .missed)
            await client.fingerIsNeeded()
            fixture.readers.touch(reader, match)
            let values = try await result
            #expect(values["method"] == .string("biometrics"))
            // Once for each touch, and never of matching, which nobody has seen.
            let states = client.heard.filter { heard in
                if case .progress = heard { true } else { false }
            }
            #expect(
                states
                    == ["waiting-for-finger", "waiting-for-finger", "finished"].map {
                        .progress(token: "", state: $0)
                    })
        }
    }

    @Test func `charges a match with a print that it did not give as a miss`() async throws {
        try await withService { fixture, client in
            async let failure = ending { try await client.evaluate() }
            for number in 1...3 {
                await fixture.readers.calls.has("scan 1", times: number)
                let stranger = Account.bob
                fixture.readers.touch(reader, .matched(.sample(.rightIndex, of: stranger)))
            }
            #expect(await failure == "AuthenticationFailed")
            #expect(fixture.lockouts.writes.entries.map(\.total) == [1, 2, 3])
        }
    }

    @Test func `does nothing for a caller that goes while the authority is asked`() async throws {
        try await withService { fixture, client in
            fixture.authority.isHeld = true
            let late = try await fixture.connect()
            async let failure = ending { try await late.evaluate() }
            await fixture.authority.questions.reaches(1)
            late.close()
            #expect(await failure == "Disconnected")
            await fixture.gone.has(late.connection.uniqueName)
            await fixture.authority.forgotten.reaches(1)
            fixture.authority.answer(.granted)
            fixture.authority.isHeld = false
            #expect(try await client.can().canEvaluate)
            #expect(fixture.readers.calls.entries == [])
        }
    }

    @Test(arguments: [Decision.denied, .unanswered])
    func `refuses whom the authority does not let`(decision: Decision) async throws {
        try await withService { fixture, client in
            fixture.authority.decision = decision
            #expect(await ending { try await client.evaluate() } == "NotAuthorized")
            let code = try await client.can().code
            #expect(code == -1004)
            #expect(fixture.readers.calls.entries == [])
        }
    }

    @Test(arguments: [Presence.absent, .unknown])
    func `asks no authority about whom does not sit there`(presence: Presence) async throws {
        try await withService { fixture, client in
            fixture.sessions.presence = presence
            #expect(await ending { try await client.evaluate() } == "NotInteractive")
            #expect(fixture.authority.questions.entries == [])
        }
    }

    @Test func `cancels when the session is lost`() async throws {
        try await withService { fixture, client in
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            fixture.sessions.presence = .absent
            fixture.sessions.announceChange()
            #expect(await failure == "SystemCancel")
            await fixture.readers.calls.has("close 1")
        }
    }

    @Test func `cancels when the session was lost at the match, and forgets no miss`() async throws
    {
        try await withService { fixture, client in
            fixture.lockouts.readings[.alice] = .record(
                LockoutRecord(misses: 2, total: 2, locked: nil))
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            fixture.sessions.presence = .absent
            fixture.readers.touch(reader, match)
            #expect(await failure == "SystemCancel")
            #expect(fixture.lockouts.writes.entries == [])
        }
    }

    @Test func `tells of a miss only when it is written down`() async throws {
        try await withService { fixture, client in
            fixture.lockouts.isSlow = true
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, .missed)
            await fixture.lockouts.writes.reaches(1)
            _ = try await client.environment()
            #expect(!client.heard.contains { if case .retry = $0 { true } else { false } })
            fixture.lockouts.finishWrite()
            #expect(
                await client.nextRetry() == .retry(token: "", cause: "no-match", attemptsLeft: 2))
            try await client.cancel()
            #expect(await failure == "AppCancel")
        }
    }

    @Test func `locks after five misses over two callers, and tells once`() async throws {
        try await withService { fixture, client in
            var scans = 0
            for (caller, misses, end) in [
                (client, 3, "AuthenticationFailed"),
                (try await fixture.connect(), 2, "BiometryLockout"),
            ] {
                async let failure = ending { try await caller.evaluate() }
                for _ in 0..<misses {
                    scans += 1
                    await fixture.readers.calls.has("scan 1", times: scans)
                    fixture.readers.touch(reader, .missed)
                }
                #expect(await failure == end)
                #expect(caller.heardLockouts.count == (end == "BiometryLockout" ? 1 : 0))
            }
            #expect(await ending { try await client.evaluate() } == "BiometryLockout")
            let code = try await client.can().code
            #expect(code == -8)
            #expect(try await client.can(2).code == -1004)
        }
    }

    @Test func `answers a cancel at once, whatever the driver does`() async throws {
        try await withService { fixture, client in
            fixture.readers.endsWhenCancelled = false
            async let first = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            let other = try await fixture.connect()
            async let second = other.evaluate()
            await other.next { $0 == .progress(token: "", state: "queued") }
            try await client.cancel()
            #expect(await first == "AppCancel")
            await fixture.readers.calls.has("cancel 1")
            // The next one has to wait for the driver, whose late verdict answers nobody.
            #expect(try await other.can().canEvaluate)
            #expect(fixture.readers.calls.entries == ["open 1", "scan 1", "cancel 1"])
            fixture.readers.touch(reader, match)
            await fixture.readers.calls.has("scan 1", times: 2)
            #expect(
                fixture.readers.calls.entries == [
                    "open 1", "scan 1", "cancel 1", "close 1", "open 1", "scan 1",
                ])
            fixture.readers.touch(reader, match)
            #expect(try await second["method"] == .string("biometrics"))
        }
    }

    @Test func `has room for four of one user`() async throws {
        try await withService { fixture, client in
            async let one = ending { try await client.evaluate() }
            async let two = ending { try await client.evaluate() }
            async let three = ending { try await client.evaluate() }
            async let four = ending { try await client.evaluate() }
            await fixture.authority.questions.reaches(4)
            let fifth = await ending { try await client.evaluate() }
            #expect(fifth == "LimitsExceeded")
            try await client.cancel()
            #expect(await [one, two, three, four] == Array(repeating: "AppCancel", count: 4))
        }
    }

    @Test func `cancels nobody else's`() async throws {
        try await withService { fixture, client in
            async let mine = ending {
                try await client.evaluate(["token": .string("t")])
            }
            await fixture.readers.calls.has("scan 1")
            let other = try await fixture.connect()
            try await other.cancel("t")
            try await other.cancel()
            try await client.cancel("u")
            #expect(fixture.readers.calls.entries == ["open 1", "scan 1"])
            try await client.cancel("t")
            #expect(await mine == "AppCancel")
        }
    }

    @Test func `answers everybody when it stops`() async throws {
        try await withService { fixture, client in
            fixture.readers.endsWhenCancelled = false
            let other = try await fixture.connect()
            async let first = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            async let second = ending { try await other.evaluate() }
            await other.next { $0 == .progress(token: "", state: "queued") }
            #expect(!fixture.service.isIdle)
            await fixture.service.stop()
            #expect(await first == "SystemCancel")
            #expect(await second == "SystemCancel")
            #expect(await ending { try await other.evaluate() } == "SystemCancel")
            #expect(fixture.readers.calls.entries.contains("stop"))
        }
    }

    @Test func `runs out of time`() async throws {
        var settings = ServiceSettings()
        settings.defaultTimeout = .milliseconds(20)
        try await withService(settings: settings) { fixture, client in
            #expect(await ending { try await client.evaluate() } == "Timeout")
            #expect(fixture.lockouts.writes.entries == [])
        }
    }

    @Test func `asks again for a reader that is busy, but not for nobody`() async throws {
        try await withService { fixture, client in
            fixture.readers.openFailure = .busy
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("open 1")
            try await client.cancel()
            #expect(await failure == "AppCancel")
            let asked = fixture.readers.calls.entries.count
            // The next one's turn comes when the first is through with the reader.
            fixture.readers.openFailure = .removed
            let next = await ending { try await client.evaluate() }
            #expect(next == "BiometryNotAvailable")
            #expect(fixture.readers.calls.entries.count == asked + 1)
        }
    }
}
