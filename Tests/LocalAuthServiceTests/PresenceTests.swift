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

    @Test func `holds four evaluations of a user and thirty-two in all`() async throws {
        try await withService { fixture, _ in
            var calls: [Task<String?, Never>] = []
            func evaluate(_ client: TestClient, _ token: String) {
                calls.append(
                    BusQueue.task {
                        await ending { try await client.evaluate(["token": .string(token)]) }
                    })
            }
            var clients: [TestClient] = []
            for user in 0..<9 {
                fixture.accounts.everybody = Account(
                    id: valid(UserID(2_000 + UInt32(user))), name: Account.alice.name)
                let client = try await fixture.connect()
                clients.append(client)
                // The ninth user finds the house full.
                for number in 0..<(user < 8 ? 4 : 0) {
                    evaluate(client, "\(user)-\(number)")
                    let isFirst = user == 0 && number == 0
                    let state = isFirst ? "waiting-for-finger" : "queued"
                    await client.next { $0 == .progress(token: "\(user)-\(number)", state: state) }
                }
                let refused = await ending { try await client.evaluate() }
                #expect(refused == "LimitsExceeded", "user \(user)")
            }
            // As soon as one leaves, another may come.
            try await clients[3].cancel("3-2")
            evaluate(clients[8], "8-0")
            await clients[8].next { $0 == .progress(token: "8-0", state: "queued") }
            for client in clients { try await client.cancel() }
            for call in calls { #expect(await call.value == "AppCancel") }
        }
    }

    /// Prompts that run out have the next one of that program wait for a minute.
    private var strict: ServiceSettings {
        var settings = ServiceSettings()
        settings.promptPatience = PromptPatience(
            firstPause: .seconds(60), longestPause: .seconds(60))
        return settings
    }

    /// Lets three prompts run out.
    @BusQueue private func tire(
        _ fixture: ServiceFixture, _ client: TestClient
    ) async throws {
        for number in 1...3 {
            async let failure = ending { try await client.evaluate(["timeout": .uint32(1)]) }
            await fixture.readers.calls.has("scan 1", times: number)
            #expect(await failure == "Timeout")
        }
    }

    @Test func `slows down who asks again and again for a finger that nobody gives`() async throws {
        try await withService(settings: strict) { fixture, client in
            try await tire(fixture, client)
            // Now the sensor stays dark for longer than the call wants to wait.
            #expect(try await client.can().canEvaluate)
            #expect(
                await ending { try await client.evaluate(["timeout": .uint32(1)]) } == "Timeout")
            #expect(fixture.readers.calls.entries.count { $0 == "open 1" } == 3)
            // What waits so can be cancelled as any other.
            async let cancelled = ending { try await client.evaluate(["token": .string("c")]) }
            await client.next { $0 == .progress(token: "c", state: "queued") }
            try await client.cancel()
            #expect(await cancelled == "AppCancel")
        }
    }

    @Test func `has all patience with those who touch the reader, however badly`() async throws {
        try await withService(settings: strict) { fixture, client in
            for round in 1...4 {
                async let failure = ending { try await client.evaluate(["timeout": .uint32(2)]) }
                await fixture.readers.calls.has("scan 1", times: 2 * round - 1)
                fixture.readers.touch(reader, .badScan(.tooShort))
                await fixture.readers.calls.has("scan 1", times: 2 * round)
                #expect(await failure == "Timeout")
            }
            #expect(fixture.readers.calls.entries.count { $0 == "open 1" } == 4)
        }
    }

    @Test func `has patience with each program of a user apart`() async throws {
        try await withService(settings: strict) { fixture, client in
            fixture.programs.program = CallerProgram(name: "nag", evidence: .sandbox)
            try await tire(fixture, client)
            async let dark = ending { try await client.evaluate(["token": .string("dark")]) }
            await client.next { $0 == .progress(token: "dark", state: "queued") }
            // Another one of the same user's waits for nothing.
            fixture.programs.program = CallerProgram(name: "vault", evidence: .sandbox)
            let other = try await fixture.connect()
            async let lit = ending { try await other.evaluate(["timeout": .uint32(1)]) }
            await fixture.readers.calls.has("scan 1", times: 4)
            #expect(await lit == "Timeout")
            try await client.cancel()
            #expect(await dark == "AppCancel")
            #expect(fixture.readers.calls.entries.count { $0 == "open 1" } == 4)
        }
    }
}
