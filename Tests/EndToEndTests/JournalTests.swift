// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// The built daemon with a journald of the test's own, in a mount namespace.
@Suite(
    .enabled(if: OtherAccount.canBe, "mount namespaces are root's"), .timeLimit(.minutes(1)))
struct `The daemon's journal` {
    private typealias Fields = [String: [String]]

    /// Puts the folder where journald's socket is looked for, and says that standard error is the
    /// stream to it.
    private static let script = """
        mount -t tmpfs none /run && mkdir -p /run/systemd/journal &&
        mount --bind "$0" /run/systemd/journal || exit 99
        JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) && export JOURNAL_STREAM
        exec "$@"
        """

    private static let ids = [
        "ready": "cc603dc978684b11b8cfb35533792542",
        "stopping": "4b208a6be596433aa88fe0c43b068f68",
        "evaluation ended": "78866e8659f54c26862c7f721d63c9cc",
        "lockout changed": "6e79ec16d42c480dbc0dd127a8fa5385",
        "finger enrolled": "99a3ddb047cf49a38d472f5f82106048",
        "fingers deleted": "99a3ddb047cf49a38d472f5f82106048",
    ]

    private func start(_ folder: Scratch) async throws -> TestService {
        try await TestService(
            .storage,
            wrapper: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", Self.script, folder.path])
    }

    @Test func `has each event with its id and fields`() async throws {
        let folder = try Scratch()
        let inbox = try DatagramInbox(folder.file("socket"))
        let service = try await start(folder)
        let client = try await TestClient(service.bus)
        try await enrol(on: service, by: client)
        try await miss(5, on: service.storage, by: client)
        try await client.resetLockout()
        try await touch(service.storage, by: client)
        try await client.delete()
        service.daemon.signal(SIGTERM)
        #expect(await service.daemon.wait() == 0)

        var events: [Fields] = []
        for await datagram in inbox.datagrams {
            let parsed = try #require(journalFields(datagram.bytes), "\(datagram.text)")
            let fields = Dictionary(grouping: parsed, by: \.name).mapValues { $0.map(\.value) }
            #expect(fields.values.allSatisfy { $0.count == 1 }, "\(fields)")
            #expect(fields["SYSLOG_IDENTIFIER"] == ["localauthd"])
            #expect(fields["LOCALAUTH_TOPIC"] != nil)
            // Not at any level.
            #expect(!datagram.text.contains("open the safe"))
            if fields["MESSAGE_ID"] != nil { events.append(fields) }
            if fields["MESSAGE_ID"] == [Self.ids["stopping"] ?? ""] { break }
        }
        let names = events.map { event in
            Self.ids.keys.first { event["MESSAGE"]?[0].hasPrefix($0) == true } ?? "?"
        }
        #expect(
            names == [
                "ready", "finger enrolled", "evaluation ended", "lockout changed",
                "evaluation ended", "lockout changed", "evaluation ended", "fingers deleted",
                "stopping",
            ])
        for (name, event) in zip(names, events) {
            #expect(event["MESSAGE_ID"] == Self.ids[name].map { [$0] })
            #expect(event["PRIORITY"] == ["5"])
        }
        let ended = events.filter { $0["LOCALAUTH_RESULT"] != nil }
        #expect(
            ended.map { $0["LOCALAUTH_RESULT"] } == [
                ["authenticationFailed"], ["biometryLockout"], ["success"],
            ])
        #expect(ended.allSatisfy { $0["LOCALAUTH_UID"] == ["\(getuid())"] })
        #expect(
            events.compactMap { $0["LOCALAUTH_LOCKED"] } == [["true"], ["false"]])
        #expect(events.last?["LOCALAUTH_CAUSE"] == ["signal"])
        // What the journal has is not said a second time.
        #expect(!service.log.contains("evaluation ended"))
    }

    @Test func `goes to standard error while journald is away`() async throws {
        let folder = try Scratch()
        let service = try await start(folder)
        // Nobody has bound the socket yet.
        let client = try await TestClient(service.bus)
        #expect(try await client.can().code == -7)
        #expect(service.log.contains("<5>localauthd: ready"))
        let inbox = try DatagramInbox(folder.file("socket"))
        service.daemon.signal(SIGTERM)
        #expect(await service.daemon.wait() == 0)
        var datagrams = inbox.datagrams.makeAsyncIterator()
        #expect(await datagrams.next()?.text.contains("MESSAGE=stopping") == true)
    }

    @Test func `is not written to when standard error is something else`() async throws {
        let folder = try Scratch()
        let inbox = try DatagramInbox(folder.file("socket"))
        let script = Self.script.replacing("%d:%i", with: "%d:1")
        let service = try await TestService(
            wrapper: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, folder.path])
        service.daemon.signal(SIGTERM)
        #expect(await service.daemon.wait() == 0)
        #expect(service.log.contains("<5>localauthd: stopping cause=signal"))
        inbox.stop()
        for await datagram in inbox.datagrams { Issue.record("\(datagram.text)") }
    }
}
