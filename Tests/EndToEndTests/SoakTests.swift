// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct `In the long run` {
    @Test func `two hundred callers that are killed leave the reader to the next one`() async throws
    {
        let (service, client) = try await enrolled()
        let line = busctl(service, "EvaluatePolicy", ["usa{sv}", "1", "dies", "0"])
        var times: [Duration] = []
        func round(_ number: Int) async throws {
            let mortal = try Child(
                line[0], Array(line.dropFirst()), log: service.scratch.file("busctl"))
            try await service.storage.waitUntilOpen()
            let next = evaluating(client, "\(number)")
            await client.next { $0 == .progress(token: "\(number)", state: "queued") }
            let killed = ContinuousClock.now
            mortal.signal(SIGKILL)
            await client.next { $0 == .progress(token: "\(number)", state: "waiting-for-finger") }
            times.append(.now - killed)
            try service.storage.send("SCAN mine")
            #expect(try await next.value["token"] == .string("\(number)"))
            await mortal.wait()
            try await service.storage.waitUntilClosed()
        }
        for number in 0..<10 { try await round(number) }
        let before = try await Figures(of: service, by: client)
        times = []
        for number in 10..<210 { try await round(number) }
        let after = try await Figures(of: service, by: client)
        times.sort()
        print("served after the kill: median \(times[100]), at most \(times[199])")
        print("200 killed callers: \(before) -> \(after)")
        #expect(times[190] < .seconds(1) && times[199] < .seconds(3))
        #expect(try await client.attemptsLeft() == 5)
        after.expectNoMore(than: before)
    }

    @Test func `a hundred races of cancel and match have one answer each`() async throws {
        let (service, client) = try await enrolled()
        let monitor = try await BusMonitor(service.bus)
        let caller = await client.connection.uniqueName.rawValue
        try await touch(service.storage, by: client)
        try await service.storage.waitUntilClosed()
        let before = try await Figures(of: service, by: client)
        var endings: [String: Int] = [:]
        for round in 0..<100 {
            let evaluation = evaluating(client)
            await client.fingerIsNeeded()
            // From 5 ms before the touch to 5 ms after it: the driver takes a touch within one.
            let offset = Duration.microseconds((round - 50) * 100)
            let touch = Task { [reader = service.storage] in
                if offset < .zero { try await Task.sleep(for: .zero - offset) }
                // The reader may be closed by then, which is no reason to wait for it.
                _ = try? VirtualSocket.command(
                    "SCAN mine", to: reader.path, wait: .milliseconds(50))
            }
            if offset > .zero { try await Task.sleep(for: offset) }
            try await client.cancel()
            switch await evaluation.result {
            case .success(let result):
                #expect(result["method"] == .string("biometrics"))
                endings["match", default: 0] += 1
            case .failure(let error as BusError):
                #expect(ServiceError(error.name) == .appCancel)
                endings["cancel", default: 0] += 1
            case .failure(let error): throw error
            }
            try await touch.value
            try await service.storage.waitUntilClosed()
        }
        let after = try await Figures(of: service, by: client)
        print("races of cancel and match: \(endings)")
        print("100 races: \(before) -> \(after)")
        _ = try await client.call(Unwatch.self, NoValues())
        let answers = try await monitor.answers(
            to: "EvaluatePolicy", from: caller, until: "Unwatch")
        #expect(answers == Array(repeating: 1, count: 101))
        #expect(try await client.attemptsLeft() == 5)
        after.expectNoMore(than: before)
    }
}
