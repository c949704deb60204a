// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A connection that comes to its end` {
    @Test func `can answer every call that has no answer yet`() async throws {
        try await withPair { pair in
            let asked = Journal<Void>()
            var held: [CheckedContinuation<Void, Never>] = []
            pair.serve {
                $0.serve(Ask.self) { arguments, _ in
                    await withCheckedContinuation { continuation in
                        held.append(continuation)
                        asked.add()
                    }
                    return arguments
                }
                $0.serve(Echo<String>.self) { arguments, _ in arguments }
            }
            #expect(!pair.server.hasUnansweredCalls)
            _ = try await pair.call(Echo.self, Single("x"))
            #expect(!pair.server.hasUnansweredCalls)
            let calls = (0..<3).map { _ in
                BusQueue.task { await pair.error(of: Ask.self, NoValues()) }
            }
            await asked.reaches(3)
            #expect(pair.server.hasUnansweredCalls)
            pair.server.answerRest(with: BusError("org.example.Gone", "gone"))
            #expect(!pair.server.hasUnansweredCalls)
            for call in calls { #expect(await call.value == "org.example.Gone") }
            // What comes of the work is told to nobody any more.
            for continuation in held { continuation.resume() }
            let echo = try await pair.call(Echo.self, Single("still there"))
            #expect(echo.value == "still there")
        }
    }

    @Test func `sends what it still has to say`() async throws {
        try await withPair { pair in
            let text = String(repeating: "x", count: 1 << 20)
            let called = Journal<Void>()
            pair.serve {
                $0.serve(Ask.self) { arguments, _ in
                    called.add()
                    for _ in 0..<2 {
                        pair.server.send(
                            Told.self, Single(text), from: Sample.path,
                            to: pair.client.uniqueName)
                    }
                    return arguments
                }
            }
            let call = BusQueue.task { await pair.error(of: Ask.self, NoValues()) }
            await called.reaches(1)
            BusQueue.post { pair.server.close() }
            #expect(await call.value == nil, "the answer behind two megabytes")
        }
    }

    @Test func `does not wait for a bus that takes nothing any more`() async throws {
        try await withPair { pair in
            kill(pair.bus.processID, SIGSTOP)
            let text = String(repeating: "x", count: 1 << 20)
            for _ in 0..<8 { pair.server.send(Told.self, Single(text), from: Sample.path) }
            let start = ContinuousClock.now
            pair.server.close()
            #expect(.now - start < .seconds(5))
            kill(pair.bus.processID, SIGCONT)
        }
    }

    @Test func `waits for work no longer than it is told`() async throws {
        try await withPair { _ in
            let start = ContinuousClock.now
            var held: CheckedContinuation<Void, Never>?
            await BusQueue.wait(atMost: .milliseconds(50)) {
                await withCheckedContinuation { held = $0 }
            }
            #expect((.milliseconds(50) ... .seconds(5)).contains(.now - start))
            held?.resume()
            await BusQueue.wait(atMost: .seconds(1_000)) {}
            #expect(.now - start < .seconds(10))
        }
    }
}
