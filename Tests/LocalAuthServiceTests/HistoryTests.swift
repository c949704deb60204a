// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)
private let match = ScanVerdict.matched(StoredPrint.sample.id)

extension TestClient {
    fileprivate func history(
        of user: String = "", limit: UInt32 = 0
    ) async throws(BusError) -> [[String: BusValue]] {
        try await call(GetHistory.self, GetHistory.Arguments(user: user, limit: limit)).entries
    }
}

/// The values of one key, newest first.
private func values(_ key: HistoryKey, _ entries: [[String: BusValue]]) -> [BusValue?] {
    entries.map { $0[key.rawValue] }
}

@Suite(.timeLimit(.minutes(1))) struct `The service, keeping histories` {
    @Test func `tells who asked, why, how it ended and when`() async throws {
        try await withService { fixture, client in
            async let result = client.evaluate(policy: 2, reason: "pay\nnow")
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, .missed)
            await fixture.readers.calls.has("scan 1", times: 2)
            fixture.readers.touch(reader, match)
            _ = try await result
            let entries = try await client.history()
            #expect(entries.count == 1)
            var entry = try #require(entries.first)
            guard case .uint64(let time)? = entry.removeValue(forKey: "time") else {
                Issue.record("no time")
                return
            }
            // Between the years 2020 and 2100.
            #expect((1_577_836_800_000_000...4_102_444_800_000_000).contains(time))
            #expect(
                entry == [
                    "kind": .string("evaluate"), "caller": .string(""),
                    "caller-evidence": .string(""), "caller-uid": .uint32(1_000),
                    "reason": .string("pay now"), "policy": .uint32(2),
                    "method": .string("biometrics"), "outcome": .string("success"),
                    "misses": .uint32(1),
                ])
        }
    }

    @Test func `keeps every ending of those that were admitted`() async throws {
        try await withService { fixture, client in
            async let failure = ending { try await client.evaluate(reason: "one") }
            for number in 1...3 {
                await fixture.readers.calls.has("scan 1", times: number)
                fixture.readers.touch(reader, .missed)
            }
            #expect(await failure == "AuthenticationFailed")
            async let cancelled = ending { try await client.evaluate(reason: "two") }
            await client.fingerIsNeeded()
            try await client.cancel()
            #expect(await cancelled == "AppCancel")
            let entries = try await client.history()
            #expect(
                values(.outcome, entries) == [
                    .string("AppCancel"), .string("AuthenticationFailed"),
                ])
            #expect(values(.misses, entries) == [.uint32(0), .uint32(3)])
            #expect(values(.method, entries) == [.string(""), .string("")])
            #expect(values(.reason, entries) == [.string("two"), .string("one")])
            let newest = try await client.history(limit: 1)
            #expect(newest.count == 1 && newest.first == entries.first)
            let answer1 = try await client.history(limit: .max)
            #expect(answer1 == entries)
        }
    }

    @Test func `keeps nothing of what was refused`() async throws {
        try await withService { fixture, client in
            fixture.authority.decision = .denied
            #expect(await ending { try await client.evaluate() } == "NotAuthorized")
            #expect(await ending { try await client.delete() } == "NotAuthorized")
            #expect(await ending { try await client.enrol("left-thumb") } == "NotAuthorized")
            #expect(await ending { try await client.resetLockout() } == "NotAuthorized")
            fixture.authority.decision = .granted
            fixture.sessions.presence = .absent
            #expect(await ending { try await client.evaluate() } == "NotInteractive")
            fixture.sessions.presence = .present
            fixture.prints.prints = []
            fixture.prints.announceChange(of: nil)
            #expect(await ending { try await client.evaluate() } == "BiometryNotEnrolled")
            #expect(await ending { try await client.evaluate(reason: " ") } == "InvalidArgs")
            let answer2 = try await client.history()
            #expect(answer2 == [])
            #expect(fixture.histories.writes.entries.isEmpty)
        }
    }

    @Test func `keeps what was done to prints and lockouts`() async throws {
        try await withService { fixture, client in
            try await client.resetLockout()
            async let failure = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.end(reader, .failure(.duplicate))
            #expect(await failure == "FingerAlreadyEnrolled")
            try await client.delete()
            #expect(await ending { try await client.delete(["left-thumb"]) } == "NoSuchFinger")
            let entries = try await client.history()
            #expect(
                values(.kind, entries)
                    == ["delete", "delete", "enroll", "reset-lockout"].map {
                        .string($0)
                    })
            #expect(
                values(.outcome, entries)
                    == ["NoSuchFinger", "success", "FingerAlreadyEnrolled", "success"].map {
                        .string($0)
                    })
            let isSilent = entries.allSatisfy { $0["reason"] == nil && $0["policy"] == nil }
            #expect(isSilent)
            // Which finger it was is nobody's business.
            #expect(!"\(entries)".contains("thumb"))
        }
    }

    @Test func `puts what is done for another user into that one's`() async throws {
        try await withService(as: .root) { fixture, client in
            try await client.resetLockout(user: "alice")
            let entries = try await client.history(of: "alice")
            #expect(values(.callerUID, entries) == [.uint32(0)])
            let answer3 = try await client.history()
            #expect(answer3 == [])
            #expect(fixture.histories.trails.keys.map(\.name.rawValue) == ["alice"])
        }
    }

    @Test func `shows a trail only to those who may see it`() async throws {
        try await withService { fixture, client in
            fixture.sessions.presence = .absent
            fixture.authority.decision = .denied
            #expect(await ending { try await client.history() } == "NotAuthorized")
            #expect(await ending { try await client.history(of: "bob") } == "NotAuthorized")
            // Nor does anybody learn who has an account.
            #expect(await ending { try await client.history(of: "nobody") } == "NotAuthorized")
            #expect(
                fixture.authority.questions.entries == [.evaluate, .manageOthers, .manageOthers])
            fixture.authority.decision = .granted
            let answer4 = try await client.history()
            #expect(answer4 == [])
            let answer5 = try await client.history(of: "bob")
            #expect(answer5 == [])
            #expect(await ending { try await client.history(of: "nobody") } == "InvalidArgs")
            #expect(await ending { try await client.history(of: "../bob") } == "InvalidArgs")
        }
    }

    @Test func `answers before it writes, and writes one thing at a time`() async throws {
        try await withService { fixture, client in
            fixture.histories.isSlow = true
            for _ in 0..<5 { try await client.resetLockout() }
            await fixture.histories.writes.reaches(1)
            #expect(fixture.histories.writes.entries.map(\.count) == [1])
            #expect(!fixture.service.isIdle, "something is to be written")
            // The question waits for what was noted before it.
            async let entries = client.history()
            _ = try await client.can()
            fixture.histories.finishWrite()
            await fixture.histories.writes.reaches(2)
            #expect(fixture.histories.writes.entries.map(\.count) == [1, 4])
            fixture.histories.finishWrite()
            let answered = try await entries
            #expect(answered.count == 5)
            #expect(fixture.service.isIdle)
        }
    }

    @Test func `goes on when nothing can be written`() async throws {
        try await withService { fixture, client in
            fixture.histories.failure = .io(28)
            try await client.resetLockout()
            let answer7 = try await client.history()
            #expect(answer7 == [])
            fixture.histories.failure = nil
            try await client.resetLockout()
            let answer8 = try await client.history()
            #expect(answer8.count == 1)
        }
    }

    @Test func `says which program asked, and how that is known`() async throws {
        try await withService { fixture, client in
            fixture.programs.program = CallerProgram(name: "org.example.Vault", evidence: .sandbox)
            async let result = client.evaluate()
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, match)
            _ = try await result
            // Each call is asked about anew: a program can execute another.
            fixture.programs.program = CallerProgram(name: "/usr/bin/x", evidence: .unverified)
            try await client.resetLockout()
            let entries = try await client.history()
            #expect(
                values(.caller, entries) == [.string("/usr/bin/x"), .string("org.example.Vault")])
            #expect(
                values(.callerEvidence, entries) == [.string("unverified"), .string("sandbox")])
        }
    }

    @Test func `tells what the sleep of the machine has ended`() async throws {
        try await withService { fixture, client in
            async let failure = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            await fixture.machine.fallAsleep()
            #expect(await failure == "SystemCancel")
            await fixture.machine.wakeUp()
            let entries = try await client.history()
            #expect(values(.outcome, entries) == [.string("SystemCancel")])
        }
    }

    @Test func `tells who ended an enrolment`() async throws {
        try await withService { fixture, client in
            let other = try await fixture.connect()
            async let lost = ending { try await other.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            other.close()
            #expect(await lost == "Disconnected")
            async let stopped = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1", times: 2)
            await fixture.service.stop()
            #expect(await stopped == "SystemCancel")
            let trail = fixture.histories.trails[.alice] ?? []
            #expect(trail.map(\.outcome) == ["SystemCancel", "AppCancel"])
            #expect(trail.allSatisfy { $0.kind == .enroll })
        }
    }

    @Test func `waits for the write when it stops`() async throws {
        try await withService { fixture, client in
            fixture.histories.isSlow = true
            try await client.resetLockout()
            await fixture.histories.writes.reaches(1)
            let stopped = BusQueue.task { await fixture.service.stop() }
            fixture.histories.finishWrite()
            await stopped.value
            #expect(fixture.histories.trails[.alice]?.count == 1)
            // But not for ever.
            fixture.histories.isSlow = true
            let start = ContinuousClock.now
            await fixture.service.stop()
            #expect(.now - start < .seconds(5))
        }
    }
}
