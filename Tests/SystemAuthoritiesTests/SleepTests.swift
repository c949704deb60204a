// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import SystemAuthorities
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The machine's sleep` {
    private static let cycle = ["sleep", "slept", "wake", "woken"]

    @Test func `waits for us, and is waited for again after each`() async throws {
        try await withMachine { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            await logind.inhibitorCounts.next { $0 == 1 }
            #expect(logind.questions.all == ["Inhibit sleep delay"])
            #expect(fixture.told.entries == [])
            logind.prepareForSleep(true)
            await logind.inhibitorCounts.next { $0 == 0 }
            #expect(fixture.told.entries == ["sleep", "slept"])
            logind.prepareForSleep(false)
            await logind.inhibitorCounts.next { $0 == 1 }
            await fixture.told.has("woken")
            #expect(fixture.told.entries == Self.cycle)
        }
    }

    private static func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    @Test func `leaves one inhibitor and no descriptor behind, fifty times`() async {
        // In a process of its own, where nobody else opens files.
        await #expect(processExitsWith: .success) {
            try await withMachine { fixture, logind in
                let logind = try #require(logind)
                await fixture.start()
                await logind.inhibitorCounts.next { $0 == 1 }
                var before = 0
                for number in 0..<55 {
                    logind.prepareForSleep(true)
                    await logind.inhibitorCounts.next { $0 == 0 }
                    logind.prepareForSleep(false)
                    await logind.inhibitorCounts.next { $0 == 1 }
                    await fixture.told.has("woken", times: number + 1)
                    try await fixture.settle()
                    var open = try Self.openDescriptors()
                    if number == 4 { before = open }
                    // A message that is still held somewhere holds its descriptor, for a moment.
                    for _ in 0..<200 where number > 4 && open > before {
                        try await Task.sleep(for: .milliseconds(10))
                        open = try Self.openDescriptors()
                    }
                    if number > 4 { #expect(open <= before) }
                }
                #expect(logind.inhibitors == 1)
                #expect(logind.inhibitorCounts.all.allSatisfy { (0...1).contains($0) })
                #expect(logind.questions.all.count == 56)
                #expect(
                    fixture.told.entries
                        == Array(repeating: Self.cycle, count: 55).joined().map(\.self))
            }
        }
    }

    @Test func `is held up for less than a second, whatever we do`() async throws {
        try await withMachine { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            await logind.inhibitorCounts.next { $0 == 1 }
            fixture.isHeld = true
            let begun = ContinuousClock.now
            logind.prepareForSleep(true)
            await logind.inhibitorCounts.next { $0 == 0 }
            let time = ContinuousClock.now - begun
            #expect(time > .milliseconds(500) && time < .seconds(3), "\(time)")
            #expect(fixture.told.entries == ["sleep"])
            // Awake before the work of going to sleep is done: that is finished first.
            logind.prepareForSleep(false)
            try await fixture.settle()
            #expect(fixture.told.entries == ["sleep"])
            #expect(logind.inhibitors == 0)
            fixture.isHeld = false
            fixture.goOn()
            await logind.inhibitorCounts.next { $0 == 1 }
            await fixture.told.has("woken")
            #expect(fixture.told.entries == Self.cycle)
        }
    }

    @Test func `that is told twice, or ends unbegun, is told once`() async throws {
        try await withMachine { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            await logind.inhibitorCounts.next { $0 == 1 }
            logind.prepareForSleep(false)
            try await fixture.settle()
            #expect(fixture.told.entries == [])
            logind.prepareForSleep(true)
            logind.prepareForSleep(true)
            await logind.inhibitorCounts.next { $0 == 0 }
            logind.prepareForSleep(true)
            logind.prepareForSleep(false)
            logind.prepareForSleep(false)
            await logind.inhibitorCounts.next { $0 == 1 }
            await fixture.told.has("woken")
            try await fixture.settle()
            #expect(fixture.told.entries == Self.cycle)
            #expect(logind.inhibitors == 1)
        }
    }

    @Test func `and waking never overlap`() async throws {
        try await withMachine { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            await logind.inhibitorCounts.next { $0 == 1 }
            logind.prepareForSleep(true)
            await fixture.told.has("slept")
            fixture.isHeld = true
            logind.prepareForSleep(false)
            await fixture.told.has("wake")
            // Back to sleep while we still wake up, which holds it up for its second.
            logind.prepareForSleep(true)
            try await fixture.settle()
            #expect(fixture.told.entries == ["sleep", "slept", "wake"])
            fixture.isHeld = false
            fixture.goOn()
            await fixture.told.has("slept", times: 2)
            #expect(fixture.told.entries == Self.cycle + ["sleep", "slept"])
            logind.prepareForSleep(false)
            await fixture.told.has("woken", times: 2)
            #expect(fixture.told.entries == Self.cycle + Self.cycle)
        }
    }

    @Test func `that has begun before us is told at once`() async throws {
        var machine = FakeLogind.Machine()
        machine.isPreparingForSleep = .bool(true)
        try await withMachine(logind: machine) { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            #expect(fixture.told.entries == ["sleep", "slept"])
            #expect(logind.inhibitors == 0)
            logind.prepareForSleep(false)
            await logind.inhibitorCounts.next { $0 == 1 }
            await fixture.told.has("woken")
            #expect(fixture.told.entries == Self.cycle)
        }
    }

    @Test func `is asked to wait again where that was refused`() async throws {
        try await withMachine { fixture, logind in
            let logind = try #require(logind)
            logind.refusesInhibitors = true
            await fixture.start()
            await logind.questions.next { $0 == "Inhibit sleep delay" }
            try await fixture.settle()
            #expect(logind.inhibitors == 0)
            logind.refusesInhibitors = false
            // We did not hear of its beginning.
            logind.prepareForSleep(false)
            await logind.inhibitorCounts.next { $0 == 1 }
            #expect(fixture.told.entries == [])
        }
    }

    @Test func `ends with the logind that told of it`() async throws {
        try await withMachine { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            await logind.inhibitorCounts.next { $0 == 1 }
            logind.prepareForSleep(true)
            await fixture.told.has("slept")
            logind.close()
            await fixture.told.has("woken")
            #expect(fixture.told.entries == Self.cycle)
            let heir = try await FakeLogind(fixture.bus)
            await heir.inhibitorCounts.next { $0 == 1 }
            heir.prepareForSleep(true)
            await heir.inhibitorCounts.next { $0 == 0 }
            #expect(fixture.told.entries == Self.cycle + ["sleep", "slept"])
            heir.close()
        }
    }

    @Test func `is waited for by every logind that comes`() async throws {
        try await withMachine(logind: nil) { fixture, _ in
            await fixture.start()
            #expect(fixture.lids.entries == [.open])
            for round in 0..<3 {
                let logind = try await FakeLogind(fixture.bus)
                await logind.inhibitorCounts.next { $0 == 1 }
                #expect(logind.inhibitors == 1, "\(round)")
                logind.close()
                // What the last one gave is void, and not kept.
                await logind.inhibitorCounts.next { $0 == 0 }
            }
            #expect(fixture.told.entries == [])
            #expect(fixture.lids.entries == [.open])
        }
    }

    @Test func `that nobody says is over is asked about`() async throws {
        try await withMachine(patience: .milliseconds(50)) { fixture, logind in
            let logind = try #require(logind)
            await fixture.start()
            await logind.inhibitorCounts.next { $0 == 1 }
            logind.prepareForSleep(true)
            await fixture.told.has("slept")
            // Absence over time: it is asked several times, and still sleeps.
            await BusQueue.sleep(.milliseconds(300))
            #expect(fixture.told.entries == ["sleep", "slept"])
            logind.setPreparingForSleep(false)
            await logind.inhibitorCounts.next { $0 == 1 }
            await fixture.told.has("woken")
            #expect(fixture.told.entries == Self.cycle)
        }
    }
}
