// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)

@Suite(.timeLimit(.minutes(1))) struct `The service, when people come and go` {
    @Test func `ends the enrolment of who has left the machine`() async throws {
        try await withService { fixture, client in
            async let failure = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            fixture.sessions.presence = .absent
            fixture.sessions.announceChange()
            #expect(await failure == "SystemCancel")
            #expect(fixture.readers.calls.entries.last == "close 1")
            #expect(fixture.prints.prints == [.sample])
        }
    }

    @Test func `lets root enrol from anywhere, whoever comes or goes`() async throws {
        try await withService(as: .root) { fixture, client in
            async let failure = ending { try await client.enrol("left-thumb", user: "alice") }
            await fixture.readers.calls.has("enrol 1")
            fixture.sessions.presence = .absent
            fixture.sessions.announceChange()
            _ = try await client.environment()
            fixture.readers.touch(reader, .missed)
            #expect(await failure == nil)
        }
    }

    @Test func `slows down who asks again and again for a finger that nobody gives`() async throws {
        try await withService { fixture, client in
            for number in 1...3 {
                async let failure = ending { try await client.evaluate(["timeout": .uint32(1)]) }
                await fixture.readers.calls.has("scan 1", times: number)
                #expect(await failure == "Timeout")
            }
            await fixture.readers.calls.has("close 1", times: 3)
            // Now the sensor stays dark for two seconds, and the call has only one.
            #expect(try await client.can().canEvaluate)
            #expect(
                await ending { try await client.evaluate(["timeout": .uint32(1)]) } == "Timeout")
            #expect(fixture.readers.calls.entries.count { $0 == "open 1" } == 3)
            // It is served in the end; and a touch, even a bad one, shows that somebody is there.
            async let failure = ending { try await client.evaluate(["timeout": .uint32(5)]) }
            await fixture.readers.calls.has("scan 1", times: 4)
            fixture.readers.touch(reader, .badScan(.tooShort))
            await client.nextRetry()
            try await client.cancel()
            #expect(await failure == "AppCancel")
            async let next = ending { try await client.evaluate(["timeout": .uint32(1)]) }
            await fixture.readers.calls.has("open 1", times: 5)
            #expect(await next == "Timeout")
        }
    }

    @Test func `has patience with each program of a user apart`() async throws {
        try await withService { fixture, client in
            fixture.programs.program = CallerProgram(name: "nag", evidence: .sandbox)
            for number in 1...3 {
                async let failure = ending { try await client.evaluate(["timeout": .uint32(1)]) }
                await fixture.readers.calls.has("scan 1", times: number)
                #expect(await failure == "Timeout")
            }
            async let dark = ending { try await client.evaluate(["timeout": .uint32(1)]) }
            await client.next { $0 == .progress(token: "", state: "queued") }
            // Another one of the same user's waits for nothing.
            fixture.programs.program = CallerProgram(name: "vault", evidence: .sandbox)
            let other = try await fixture.connect()
            async let lit = ending { try await other.evaluate(["timeout": .uint32(1)]) }
            await fixture.readers.calls.has("scan 1", times: 4)
            #expect(await lit == "Timeout")
            #expect(await dark == "Timeout")
            #expect(fixture.readers.calls.entries.count { $0 == "open 1" } == 4)
        }
    }
}
