// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import Synchronization
import TestKit
import Testing

/// Everything that can be tried to have more misses than five.
@Suite(.timeLimit(.minutes(20))) struct `The count of the misses` {
    /// How often the daemon is killed; more by the variable LOCALAUTH_KILLS.
    private static let kills =
        ProcessInfo.processInfo.environment["LOCALAUTH_KILLS"]
        .flatMap { Int($0) } ?? 40

    @Test func `is never less on disk than anybody was told, whenever it is killed`() async throws {
        let (service, client) = try await enrolled(on: .device)
        var random = SplitMix64(seed: UInt64.random(in: .min ... .max))
        var (runs, misses, told, lockouts, ahead) = (0, 0, 0, 0, 0)
        while runs < Self.kills {
            runs += 1
            let start = try Self.missesOnDisk(service)
            let heard = Told()
            let delay = UInt32(random.next() % 30_000)
            await Self.play(service, heard, killAfter: delay)
            await service.daemon.wait()
            let now = try Self.missesOnDisk(service)
            let known = min(5, max(start + heard.misses, heard.environment))
            #expect(now >= known, "\(known) were told, \(now) are on disk, run \(runs)")
            #expect((start...5).contains(now), "\(start) became \(now)")
            misses += now - start
            told += known - start
            ahead += now > known ? 1 : 0
            try await service.restart()
            #expect(try await client.attemptsLeft() == UInt32(5 - now))
            if now == 5 {
                lockouts += 1
                #expect(try await client.can().code == -8)
                try await client.resetLockout()
            }
        }
        print(
            "\(runs) kills: \(misses) misses on disk, \(told) told, \(ahead) times more on disk",
            "than told, \(lockouts) lockouts")
        #expect(misses > runs / 10 && told > 0)
    }

    @Test func `is five for twenty evaluations at once with twenty misses`() async throws {
        let (service, client) = try await enrolled(on: .device)
        _ = try await client.call(Watch.self, NoValues())
        let reader = service.device
        // A finger whenever one is wanted, whoever wants it.
        let fingers = Task {
            var count = 0
            while count < 20, await client.next(Self.isWaiting) != nil {
                count += 1
                _ = try? reader.send("SCAN other")
            }
        }
        var clients: [TestClient] = []
        for _ in 0..<4 { clients.append(try await TestClient(service.bus)) }
        let endings = await withTaskGroup(of: ServiceError?.self) { group in
            for number in 0..<20 {
                let client = clients[number % 4]
                group.addTask { await Self.evaluateUntilAdmitted(client, UInt32(number % 2 + 1)) }
            }
            var endings: [ServiceError?] = []
            for await ending in group { endings.append(ending) }
            return endings
        }
        #expect(endings.count == 20)
        #expect(try Self.number("Misses", onDisk: service) == 5)
        // Not one more than five, whatever was under way.
        #expect(try Self.number("Total", onDisk: service) == 5)
        #expect(await client.heardLockouts.count == 1)
        let possible: Set<ServiceError?> = [
            .authenticationFailed, .biometryLockout, try await client.endingWithoutAgent().error,
        ]
        #expect(Set(endings).isSubset(of: possible))
        #expect(endings.count { $0 == .authenticationFailed } == 1)
        await client.close()
        await fingers.value
    }

    @Test func `is not dodged by leaving, cancelling or asking anew after each miss`() async throws
    {
        let (service, client) = try await enrolled(on: .device)
        _ = try await client.call(Watch.self, NoValues())
        for number in 0..<20 {
            let asking = try await TestClient(service.bus)
            guard try await asking.can().code == 0 else { break }
            #expect(number < 5)
            let evaluation = evaluating(asking)
            await asking.fingerIsNeeded()
            try service.device.send("SCAN other")
            await asking.next { heard in
                switch heard {
                case .retry, .lockout: true
                default: false
                }
            }
            switch number % 3 {
            case 0: await asking.close()
            case 1: try await asking.cancel()
            default:
                // At the moment of the next miss, not after it.
                try service.device.send("SCAN other")
                await asking.close()
            }
            _ = await evaluation.result
            try await service.device.waitUntilClosed()
        }
        #expect(try Self.number("Misses", onDisk: service) == 5)
        #expect(await client.heardLockouts.count == 1)
    }

    private static func evaluateUntilAdmitted(
        _ client: TestClient, _ policy: UInt32
    ) async -> ServiceError? {
        while true {
            do throws(BusError) {
                _ = try await client.evaluate(policy: policy)
                return nil
            } catch {
                guard error.name == .limitsExceeded else { return ServiceError(error.name) }
            }
        }
    }

    private static let isWaiting: @Sendable (Heard) -> Bool = {
        if case .progress(_, "waiting-for-finger") = $0 { true } else { false }
    }

    /// What clients were told in one run.
    private final class Told: Sendable {
        private let state = Mutex((misses: 0, environment: 0))
        var misses: Int { state.withLock { $0.misses } }
        var environment: Int { state.withLock { $0.environment } }
        func noteMiss() { state.withLock { $0.misses += 1 } }
        func note(_ attemptsLeft: UInt32?) {
            guard let attemptsLeft else { return }
            state.withLock { $0.environment = max($0.environment, 5 - Int(attemptsLeft)) }
        }
    }

    /// Misses until the daemon is killed, in the middle of one; others ask how many are left.
    private static func play(_ service: TestService, _ told: Told, killAfter delay: UInt32) async {
        guard let client = try? await TestClient(service.bus),
            let asking = try? await TestClient(service.bus)
        else { return }
        let evaluation = Task {
            do {
                _ = try await client.evaluate()
            } catch let error as BusError {
                switch ServiceError(error.name) {
                case .authenticationFailed: told.noteMiss()
                case .biometryLockout: told.note(0)
                default: break
                }
            }
        }
        let retries = Task {
            while await client.nextRetry() != nil { told.noteMiss() }
        }
        let questions = Task {
            while let left = try? await asking.attemptsLeft() { told.note(left) }
        }
        let reader = service.device
        let fingers = Task {
            while await client.next(isWaiting) != nil { _ = try? reader.send("SCAN other") }
        }
        try? await reader.waitUntilOpen()
        _ = try? await blocking { usleep(delay) }
        service.daemon.signal(SIGKILL)
        await service.daemon.wait()
        _ = await evaluation.result
        await client.close()
        _ = await (retries.value, fingers.value, questions.value)
        await asking.close()
    }

    private static func missesOnDisk(_ service: TestService) throws -> Int {
        try number("Misses", onDisk: service)
    }

    /// What the record says; 0 without one.
    private static func number(_ key: String, onDisk service: TestService) throws -> Int {
        let folder = service.stateDirectory + "/lockout"
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { !$0.hasPrefix(".") }
        guard let name = names.first else { return 0 }
        #expect(names.count == 1)
        let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
        let line = text.components(separatedBy: "\n").first { $0.hasPrefix(key + "=") }
        return try #require(line.flatMap { Int($0.dropFirst(key.count + 1)) })
    }
}
