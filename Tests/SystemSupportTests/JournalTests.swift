// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import SystemSupport

@Suite struct `A journal entry` {
    private func entry(
        _ fields: KeyValuePairs<String, String>, id: MessageID? = nil
    ) throws -> [String: [String]] {
        let entry = JournalEntry(
            .notice, topic: "tests", text: "something", id: id, program: "program",
            fields: fields)
        let parsed = try #require(journalFields(entry.bytes))
        return Dictionary(grouping: parsed, by: \.name).mapValues { $0.map(\.value) }
    }

    private static let own: Set<String> = [
        "MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER", "LOCALAUTH_TOPIC",
    ]

    @Test func `has message, priority, program, topic, id and a field for each value`() throws {
        let id = MessageID("0123456789abcdef0123456789abcdef")
        let fields = try entry(["uid": "1000", "Result": "a b"], id: id)
        #expect(
            fields == [
                "MESSAGE": ["something"], "PRIORITY": ["5"], "SYSLOG_IDENTIFIER": ["program"],
                "MESSAGE_ID": [id.rawValue], "LOCALAUTH_TOPIC": ["tests"],
                "LOCALAUTH_UID": ["1000"], "LOCALAUTH_RESULT": ["a b"],
            ])
    }

    @Test(arguments: [
        "a\nPRIORITY=0", "\nMESSAGE_ID=00000000000000000000000000000000\n", "\n", "a\n",
        "MESSAGE\n\u{1}\0\0\0\0\0\0\0x\n", "\0", "=", "a=b", "\r\n", "", "é\n\u{202e}",
    ]) func `cannot be forged by a value`(value: String) throws {
        let fields = try entry(["value": value])
        #expect(Set(fields.keys) == Self.own.union(["LOCALAUTH_VALUE"]))
        #expect(fields["LOCALAUTH_VALUE"]?.map { Array($0.utf8) } == [Array(value.utf8)])
        #expect(fields["PRIORITY"] == ["5"])
    }

    @Test(arguments: [
        "", "a=b", "a\nPRIORITY=0\nb", "two words", "é", "a-b", "\0", "topic", "TOPIC",
        String(repeating: "n", count: 55),
    ]) func `has no field of a name that journald would not take, or that is taken`(
        name: String
    ) throws {
        let fields = try entry([name: "forged", "good": "1"])
        #expect(Set(fields.keys) == Self.own.union(["LOCALAUTH_GOOD"]))
        #expect(fields["LOCALAUTH_TOPIC"] == ["tests"])
    }

    @Test func `has each field once`() throws {
        #expect(try entry(["uid": "1", "UID": "2"])["LOCALAUTH_UID"] == ["1"])
    }

    @Test func `holds only the beginning of a huge value`() throws {
        let fields = try entry(["value": String(repeating: "é", count: 1 << 20)])
        let value = try #require(fields["LOCALAUTH_VALUE"]?.first)
        #expect(value.utf8.count <= Log.longestValue + 3)
        #expect(value.hasSuffix("é\u{2026}"))
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The way to the journal` {
    @Test func `is taken only where standard error is the stream that systemd opened`() throws {
        var status = stat()
        unsafe #expect(fstat(2, &status) == 0)
        let (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        #expect(LogSink.isStream("\(device):\(inode)", descriptor: 2))
        for name in [
            "\(device):\(inode + 1)", "\(device + 1):\(inode)", "", ":", "\(device)",
            "\(device):\(inode):", "\(device):\(inode) ", "-1:\(inode)", "x:y",
            "99999999999999999999:1",
        ] {
            #expect(!LogSink.isStream(name, descriptor: 2), "\(name)")
        }
        #expect(!LogSink.isStream("\(device):\(inode)", descriptor: -1))
    }

    @Test(arguments: ["path", "@abstract"]) func `is a datagram`(kind: String) async throws {
        let name = "/tmp/la-\(UUID().uuidString)"
        let path = kind == "path" ? name : "@" + name
        let inbox = try DatagramInbox(path)
        defer { unsafe _ = unlink(name) }
        let address = try #require(UnixAddress(path))
        guard let socket = DatagramSocket() else {
            Issue.record("no descriptor left")
            return
        }
        let isSent = socket.send([1, 2, 3], to: address)
        #expect(isSent)
        var datagrams = inbox.datagrams.makeAsyncIterator()
        #expect(await datagrams.next()?.bytes == [1, 2, 3])
    }

    @Test func `never waits`() throws {
        let name = "/tmp/la-\(UUID().uuidString)"
        // Bound and never read: what does not fit into the kernel's queue is refused.
        let mute = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer {
            close(mute)
            unsafe _ = unlink(name)
        }
        let address = try #require(UnixAddress(name))
        unsafe address.withRaw { #expect(unsafe bind(mute, $0, $1) == 0) }
        guard let socket = DatagramSocket() else {
            Issue.record("no descriptor left")
            return
        }
        let start = ContinuousClock.now
        var sent = 0
        while sent < 100_000, socket.send(Array(repeating: 0, count: 1_000), to: address) {
            sent += 1
        }
        #expect(sent < 100_000)
        let isHugeSent = socket.send(Array(repeating: 0, count: 8 << 20), to: address)
        #expect(!isHugeSent)
        #expect(.now - start < .seconds(5))
    }

    @Test(arguments: [
        "", "relative", "@", "/" + String(repeating: "x", count: 107), "/a\0b", "unix:path=/x",
        "vsock:2:1234", "\u{0}abstract",
    ]) func `is not taken to a place that is none`(name: String) {
        #expect(UnixAddress(name) == nil)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A service manager` {
    @Test func `hears in order what it is told, on lines of its own`() async {
        // In a process of its own: the environment must not change while others are starting
        // programs.
        await #expect(processExitsWith: .success) {
            let name = "@la-\(UUID().uuidString)"
            let inbox = try DatagramInbox(name)
            unsafe _ = setenv("NOTIFY_SOCKET", name, 1)
            let manager = ServiceManager()
            #expect(unsafe getenv("NOTIFY_SOCKET") == nil)
            manager.tellReady()
            manager.tellStatus("2 readers\nMAINPID=1\r\nERRNO=1")
            manager.tellStopping()
            manager.tellStoppingTakes(.seconds(10))
            let executor = PollExecutor(name: "barrier")
            executor.start()
            let barrier = try #require(manager.barrier())
            await withCheckedContinuation { continuation in
                Task(executorPreference: executor) {
                    barrier.watch(on: executor) { continuation.resume() }
                }
            }
            executor.stop()
            var heard: [String] = []
            for await datagram in inbox.datagrams {
                heard.append(datagram.text)
                #expect(datagram.hadDescriptor == (datagram.text == "BARRIER=1"))
                if heard.count == 5 { break }
            }
            #expect(
                heard == [
                    "READY=1", "STATUS=2 readers MAINPID=1 ERRNO=1", "STOPPING=1",
                    "EXTEND_TIMEOUT_USEC=10000000", "BARRIER=1",
                ])
        }
    }
}
