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

    /// A daemon that has told that it leaves, and waits until its manager has taken that in, which
    /// takes the manager longer than the daemon waits.
    private struct Leaving {
        let polkit: FakePolkit
        let service: TestService
        let client: TestClient
        let inbox: DatagramInbox

        init() async throws {
            let bus = try await PrivateBus()
            polkit = try await FakePolkit(bus) { _ in .later }
            let name = "@" + bus.address
            inbox = try DatagramInbox(name, keepsDescriptors: true)
            client = try await TestClient(bus)
            service = try await TestService(
                .storage, configuration: "[Authorization]\nSessions=none\n", bus: bus,
                arguments: ["--idle-exit", "1"], environment: ["NOTIFY_SOCKET": name])
            for await datagram in inbox.datagrams where datagram.hadDescriptor { break }
            // So that what follows comes before it goes on, however slow this machine is.
            service.daemon.signal(SIGSTOP)
        }

        /// Asks something that takes until polkit's answer; returns when the bus has passed it on.
        func ask() async -> Task<Int32, any Error> {
            let client = client
            let question = Task { @BusQueue in try await client.can().code }
            await Task { @BusQueue in await client.service.findOwner() }.value
            return question
        }

        /// Lets the daemon go on; returns when polkit has been asked.
        func goOn() async {
            service.daemon.signal(SIGCONT)
            await polkit.questions.next()
        }

        /// Lets polkit answer.
        func answer() async { await polkit.answerOpenQuestions(true) }
    }

    @Test func `is asked for time when somebody calls while the daemon leaves`() async throws {
        let leaving = try await Leaving()
        let question = await leaving.ask()
        await leaving.goOn()
        await leaving.answer()
        #expect(try await question.value == -7)
        var told = leaving.inbox.datagrams.makeAsyncIterator()
        #expect(await told.next()?.text == "EXTEND_TIMEOUT_USEC=10000000")
        // By then the name was given back, of which the bus has told before it answers.
        await leaving.client.service.findOwner()
        #expect(await leaving.client.waitForService())
        // Again and again, as long as somebody calls it by the name that it has taken again.
        let calls = Task { [client = leaving.client] in
            while !Task.isCancelled {
                let code = try? await client.can().code
                #expect(code == -7)
            }
        }
        #expect(await told.next()?.text == "EXTEND_TIMEOUT_USEC=10000000")
        calls.cancel()
        await calls.value
        #expect(await leaving.service.daemon.wait() == 0)
    }

    @Test func `has the next instance started while the last call is still served`() async throws {
        let leaving = try await Leaving()
        let question = await leaving.ask()
        // Who watches keeps no daemon that has lost its name.
        let watch = Task { [client = leaving.client] in
            try await client.call(Watch.self, NoValues())
        }
        // Somebody else is in line for the name, and gets it as soon as it is given back.
        let heir = try await TestClient(leaving.service.bus)
        let reply = try await heir.connection.call(
            QueueForName.self, QueueForName.Arguments(), of: .bus, at: "/org/freedesktop/DBus",
            deadline: .seconds(5))
        #expect(reply.value == 2, "in line")
        await leaving.goOn()
        var told = leaving.inbox.datagrams.makeAsyncIterator()
        #expect(await told.next()?.text == "EXTEND_TIMEOUT_USEC=10000000")
        await leaving.answer()
        #expect(try await question.value == -7)
        _ = try await watch.value
        #expect(await leaving.service.daemon.wait() == 0)
    }

    @Test(arguments: [
        "", "/nonexistent/notify", "@", "relative", "/dev/null", "vsock:2:1", "@nobody-listens",
        "/" + String(repeating: "x", count: 4_000), "/tmp", "\u{1b}[31m\n",
    ]) func `may be anything, and the daemon works and leaves`(name: String) async throws {
        let bus = try await PrivateBus()
        let scratch = try Scratch()
        let config = try scratch.write("conf", TestService.localConfiguration)
        let daemon = try await run(
            productsDirectory.appending(path: "localauthd").path,
            [
                "--config", config, "--state-dir", scratch.file("state"), "--print-dir",
                scratch.file("prints"), "--idle-exit", "1",
            ], environment: bus.environment.merging(["NOTIFY_SOCKET": name]) { $1 })
        #expect(daemon.status == 0)
        #expect(daemon.errors.contains("localauthd: ready"))
        #expect(daemon.errors.contains("localauthd: stopping cause=idle"))
    }
}

/// `RequestName` with the wish to wait for the name.
private enum QueueForName: BusMethod {
    static let interface: InterfaceName = "org.freedesktop.DBus"
    static let member: MemberName = "RequestName"
    struct Arguments: BusBody {
        static let parameters = [
            BusParameter("name", String.self), BusParameter("flags", UInt32.self),
        ]
        init() {}
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            _ = try reader.read(String.self)
            _ = try reader.read(UInt32.self)
        }
        func encode(to writer: inout MessageWriter) {
            writer.write(Service.name.rawValue)
            writer.write(UInt32(0))
        }
    }
    typealias Reply = Single<UInt32>
}
