// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// What the built daemon tells a service manager of the test's own.
@Suite(.timeLimit(.minutes(1))) struct `The service manager` {
    @Test(arguments: ["path", "@abstract"])
    func `hears when the daemon is ready and when it stops`(kind: String) async throws {
        let scratch = try Scratch()
        let name = kind == "path" ? scratch.file("notify") : "@" + scratch.file("notify")
        let inbox = try DatagramInbox(name)
        let bus = try await PrivateBus()
        let client = try await TestClient(bus)
        let heard = inbox.datagrams
        let service = try await TestService(
            .storage, bus: bus, environment: ["NOTIFY_SOCKET": name])
        var datagrams = heard.makeAsyncIterator()
        #expect(await datagrams.next()?.text == "READY=1")
        // Who is told that it is ready finds name and objects: also the first one who asks.
        #expect(try await client.can().code == -7)
        #expect(await datagrams.next()?.text == "STATUS=1 reader")
        // No child of the daemon's may speak in its name.
        service.daemon.signal(SIGTERM)
        #expect(await datagrams.next()?.text == "STOPPING=1")
        #expect(await service.daemon.wait() == 0)
    }

    @Test func `hears that it is ready only when the name is owned`() async throws {
        let scratch = try Scratch()
        let inbox = try DatagramInbox(scratch.file("notify"))
        let bus = try await PrivateBus()
        let first = try await TestService(bus: bus)
        // The second one never has the name, and so is never ready.
        let second = try await run(
            productsDirectory.appending(path: "localauthd").path,
            [
                "--config", first.scratch.file("localauthd.conf"), "--state-dir",
                scratch.file("state"), "--print-dir", scratch.file("prints"),
            ],
            environment: bus.environment.merging(["NOTIFY_SOCKET": scratch.file("notify")]) { $1 })
        #expect(second.status == 0)
        inbox.stop()
        for await datagram in inbox.datagrams { Issue.record("\(datagram.text)") }
    }

    @Test func `is told before the name is given back, and waited for`() async throws {
        let scratch = try Scratch()
        let inbox = try DatagramInbox(scratch.file("notify"))
        let service = try await TestService(
            arguments: ["--idle-exit", "1"],
            environment: ["NOTIFY_SOCKET": scratch.file("notify")])
        var told: [String] = []
        for await datagram in inbox.datagrams {
            told.append(datagram.text)
            #expect(datagram.hadDescriptor == (datagram.text == "BARRIER=1"))
            if datagram.hadDescriptor { break }
        }
        #expect(told == ["READY=1", "STATUS=idle", "STOPPING=1", "BARRIER=1"])
        #expect(await service.daemon.wait() == 0)
    }

    @Test(arguments: [
        "", "/nonexistent/notify", "@", "relative", "/dev/null", "vsock:2:1", "@nobody-listens",
        "/" + String(repeating: "x", count: 4_000), "/tmp", "\u{1b}[31m\n",
    ]) func `may be anything, and the daemon works`(name: String) async throws {
        let service = try await TestService(
            arguments: ["--idle-exit", "1"], environment: ["NOTIFY_SOCKET": name])
        let client = try await TestClient(service.bus)
        #expect(try await client.can().code == -6)
        let start = ContinuousClock.now
        #expect(await service.daemon.wait() == 0)
        #expect(.now - start < .seconds(4))
    }
}
