// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// What a service manager relies on: told to end, the daemon does, and soon.
@Suite(.timeLimit(.minutes(2))) struct `A daemon that is told to end` {
    private static let limit: Duration = .seconds(3)

    /// Waits for the daemon's end; how long that took.
    private func end(
        of service: TestService, _ comment: String
    ) async -> Duration {
        let start = ContinuousClock.now
        service.daemon.signal(SIGTERM)
        #expect(await service.daemon.wait() == 0, "\(comment)")
        let time = ContinuousClock.now - start
        print("gone after \(time): \(comment)")
        #expect(time < Self.limit, "\(comment)")
        return time
    }

    @Test(arguments: [[SIGTERM], [SIGINT], [SIGTERM, SIGTERM], [SIGINT, SIGTERM]])
    func `answers everybody first, whatever signal it is and however often`(
        signals: [Int32]
    ) async throws {
        let (service, client) = try await enrolled()
        let running = evaluating(client, "running")
        await client.fingerIsNeeded()
        let waiting = (0..<3).map { evaluating(client, "\($0)") }
        for number in 0..<3 {
            await client.next { $0 == .progress(token: "\(number)", state: "queued") }
        }
        let start = ContinuousClock.now
        for signal in signals { service.daemon.signal(signal) }
        for call in [running] + waiting { #expect(await error(of: call) == .systemCancel) }
        let answered = ContinuousClock.now - start
        #expect(await service.daemon.wait() == 0)
        print("answered after \(answered), gone after \(ContinuousClock.now - start): \(signals)")
        #expect(answered < .seconds(2))
        #expect(.now - start < Self.limit)
    }

    @Test func `does not wait for a driver that does not let go`() async throws {
        let (service, client) = try await enrolled()
        let running = evaluating(client)
        await client.fingerIsNeeded()
        try service.storage.send("SET_CANCELLATION_ENABLED 0")
        let time = await end(of: service, "the driver does not let go")
        #expect(await error(of: running) == .systemCancel)
        #expect(time < .seconds(3))
    }

    @Test(arguments: [true, false])
    func `answers who enrols, whatever the driver does`(driverListens: Bool) async throws {
        let (service, client) = try await enrolled()
        let enrolling = Task { try await client.enrol("left-thumb") }
        await client.nextStage()
        if !driverListens { try service.storage.send("SET_CANCELLATION_ENABLED 0") }
        _ = await end(of: service, "enrolling, driver listens: \(driverListens)")
        #expect(await error(of: enrolling) == .systemCancel)
        try await service.restart()
        #expect(try await client.list() == ["right-index-finger"])
    }

    @Test func `finishes a print that is being saved`() async throws {
        var saved = 0
        for offset in 0..<12 {
            let service = try await TestService(.storage)
            let client = try await TestClient(service.bus)
            let enrolling = Task { try await client.enrol("left-thumb") }
            for _ in 0..<5 {
                await client.nextStage()
                try service.storage.send("SCAN mine")
            }
            try await Task.sleep(for: .microseconds(300 * offset))
            service.daemon.signal(SIGTERM)
            #expect(await service.daemon.wait() == 0)
            let failure = await error(of: enrolling)
            try await service.restart()
            let fingers = try await client.list()
            switch await enrolling.result {
            case .success:
                saved += 1
                #expect(fingers == ["left-thumb"], "what was answered holds")
            // The answer is honest: it did not come to that.
            case .failure: #expect(failure == .systemCancel && fingers == [])
            }
        }
        print("\(saved) of 12 were saved")
    }

    @Test func `finishes a deletion that has begun`() async throws {
        var deleted = 0
        for offset in 0..<12 {
            let (service, client) = try await enrolled()
            let deleting = Task { try await client.delete() }
            try await Task.sleep(for: .microseconds(300 * offset))
            service.daemon.signal(SIGTERM)
            #expect(await service.daemon.wait() == 0)
            let failure = await errorName(of: deleting)
            try await service.restart()
            let fingers = try await client.list()
            if fingers.isEmpty { deleted += 1 }
            switch failure {
            case nil: #expect(fingers == [], "what was answered holds")
            // The first instance's answer, or no answer to a call that came after it had left.
            default: #expect(fingers == ["right-index-finger"], "\(offset) \(failure as Any)")
            }
        }
        print("\(deleted) of 12 were deleted")
    }

    @Test func `can be told so at any moment of its beginning`() async throws {
        var ends: [Int32: Int] = [:]
        var longest = Duration.zero
        let bus = try await PrivateBus()
        for offset in 0..<40 {
            let scratch = try Scratch()
            let config = try scratch.write("conf", TestService.localConfiguration)
            let daemon = try Child(
                productsDirectory.appending(path: "localauthd").path,
                [
                    "--config", config, "--state-dir", scratch.file("state"), "--print-dir",
                    scratch.file("prints"),
                ],
                environment: bus.environment.merging([
                    "FP_VIRTUAL_DEVICE_STORAGE": scratch.file("reader"),
                    "FP_DRIVERS_WHITELIST": "virtual_device_storage",
                ]) { $1 }, log: scratch.file("log"))
            try await Task.sleep(for: .milliseconds(offset))
            let start = ContinuousClock.now
            daemon.signal(SIGTERM)
            let status = await daemon.wait()
            longest = max(longest, .now - start)
            // By the signal itself as long as there is nobody to answer.
            #expect(status == 0 || status == -SIGTERM, "after \(offset) ms: \(daemon.logText)")
            ends[status, default: 0] += 1
        }
        print("ends by status: \(ends), the longest took \(longest)")
        #expect(longest < Self.limit)
    }

    @Test func `ends though the bus never says hello`() async throws {
        let scratch = try Scratch()
        let mute = try MuteListener(scratch.file("bus"))
        let config = try scratch.write("conf", TestService.localConfiguration)
        let daemon = try Child(
            productsDirectory.appending(path: "localauthd").path, ["--config", config],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(scratch.file("bus"))"],
            log: scratch.file("log"))
        try await blocking { try mute.accept() }
        let start = ContinuousClock.now
        daemon.signal(SIGTERM)
        #expect(await daemon.wait() == -SIGTERM)
        print("gone after \(ContinuousClock.now - start): the bus is mute")
        #expect(.now - start < Self.limit)
    }

    @Test func `ends though the bus hangs`() async throws {
        let (service, client) = try await enrolled()
        let running = evaluating(client)
        await client.fingerIsNeeded()
        kill(service.bus.processID, SIGSTOP)
        _ = await end(of: service, "the bus hangs, somebody waits")
        kill(service.bus.processID, SIGCONT)
        // The answer was sent all the same.
        #expect(await error(of: running) == .systemCancel)
    }

    @Test func `ends though the bus hangs and takes nothing any more`() async throws {
        let (service, client) = try await enrolled()
        // The daemon sleeps while the calls come, whose answers are more than a socket holds.
        service.daemon.signal(SIGSTOP)
        let calls = await client.askForIntrospection(200)
        kill(service.bus.processID, SIGSTOP)
        service.daemon.signal(SIGCONT)
        _ = await end(of: service, "the bus hangs and its socket is full")
        kill(service.bus.processID, SIGCONT)
        for call in calls { await call.value }
    }
}

private enum Introspect: BusMethod {
    static let interface: InterfaceName = "org.freedesktop.DBus.Introspectable"
    static let member: MemberName = "Introspect"
    typealias Arguments = NoValues
    typealias Reply = Single<String>
}

extension TestClient {
    /// Calls so often without waiting for answers; returns when the bus has passed the calls on.
    fileprivate func askForIntrospection(_ count: Int) async -> [Task<Void, Never>] {
        let calls = (0..<count).map { _ in
            BusQueue.task {
                _ = try? await self.connection.call(
                    Introspect.self, NoValues(), of: .service(Service.name), at: Service.path,
                    deadline: .seconds(60))
            }
        }
        // Behind them; and the bus takes messages in order.
        await BusQueue.task { await self.service.findOwner() }.value
        return calls
    }
}

/// A socket that takes connections and says nothing.
private final class MuteListener: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // SAFETY: paths in tests are short; the address lives during the call.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(descriptor, 5) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    /// Returns when somebody has connected and spoken.
    func accept() throws {
        let peer = Glibc.accept(descriptor, nil, nil)
        var byte: UInt8 = 0
        guard peer >= 0, unsafe recv(peer, &byte, 1, Int32(MSG_PEEK)) == 1 else {
            throw CocoaError(.fileReadUnknown)
        }
    }
}
