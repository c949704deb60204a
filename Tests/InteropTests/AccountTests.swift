// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// Accounts that are not like those that everybody tries with.
@Suite(.timeLimit(.minutes(1))) struct `Accounts` {
    /// The service in a mount namespace where these files stand over the system's. The bus has
    /// the system's own: it would let nobody in whom it does not know.
    private static func service(
        _ files: [(path: String, text: String)], in scratch: Scratch,
        environment: [String: String] = [:]
    ) async throws -> TestService {
        var script = ""
        for (number, file) in files.enumerated() {
            let copy = try scratch.write("file\(number)", file.text)
            script += "mount --bind \(copy) \(file.path) && "
        }
        return try await TestService(
            .storage, environment: environment,
            wrapper: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script + #"exec "$0" "$@""#])
    }

    @Test func `whose directory hangs get a no, and keep nobody else waiting`() async throws {
        let scratch = try Scratch()
        let began = scratch.file("began")
        let module = try scratch.write("hang.c", Self.hangingModule)
        let built = try await run(
            "/usr/bin/cc",
            [
                "-shared", "-fPIC", "-DBEGAN=\"\(began)\"", "-o",
                scratch.file("libnss_hang.so.2"), module,
            ])
        #expect(built.status == 0, "\(built.errors)")
        let service = try await Self.service(
            [
                ("/etc/passwd", "root:x:0:0::/:/bin/sh\nbin:x:2:2::/:/bin/sh\n"),
                ("/etc/nsswitch.conf", "passwd: files hang\n"),
            ], in: scratch, environment: ["LD_LIBRARY_PATH": scratch.path])
        let begun = ContinuousClock.now
        async let slow = OtherUser(1, on: service.bus).canEvaluate()
        while !FileManager.default.fileExists(atPath: began) {
            try await Task.sleep(for: .milliseconds(10))
        }
        for user in [2, 0] as [UInt32] {
            let asked = ContinuousClock.now
            let answer = try await OtherUser(user, on: service.bus).canEvaluate()
            #expect(answer.hasPrefix("(false, -7, "), "\(answer)")
            #expect(.now - asked < .seconds(3))
        }
        let answer = try await slow
        #expect(answer.hasPrefix("(false, -6, "), "\(answer)")
        let time = ContinuousClock.now - begun
        #expect(time > .seconds(4) && time < .seconds(12), "\(time)")
        print("an account that hangs: no after \(time)")
    }

    /// A name service that knows nobody, and takes half a minute to say so of user 1.
    private static let hangingModule = """
        #include <errno.h>
        #include <fcntl.h>
        #include <nss.h>
        #include <pwd.h>
        #include <unistd.h>
        enum nss_status _nss_hang_getpwuid_r(
            uid_t uid, struct passwd *entry, char *buffer, size_t size, int *code) {
          (void)entry, (void)buffer, (void)size;
          if (uid == 1) {
            close(open(BEGAN, O_CREAT | O_WRONLY, 0600));
            sleep(30);
          }
          *code = ENOENT;
          return NSS_STATUS_NOTFOUND;
        }
        """

    @Test func `with letters outside of ASCII are like any other`() async throws {
        let scratch = try Scratch()
        let service = try await Self.service(
            [("/etc/passwd", "root:x:0:0::/:/bin/sh\njürgen:x:1:1::/:/bin/sh\n")], in: scratch)
        let client = try await TestClient(service.bus)
        let hand = service.hand(on: .storage)
        try await enrol("left-thumb", with: hand, by: client, user: "jürgen")
        #expect(try await client.list(user: "jürgen") == ["left-thumb"])
        #expect(try await client.list() == [])
        #expect(FileManager.default.fileExists(atPath: service.printDirectory + "/jürgen"))
        // The same to the eye, and no account.
        let other = Task { try await client.list(user: "ju\u{308}rgen") }
        if case .success = await other.result { Issue.record("another name is the same") }

        let user = OtherUser(1, on: service.bus)
        #expect(try await user.canEvaluate().hasPrefix("(true, 0, "))
        async let accepted = user.evaluate()
        try await hand.touch(number: 1)
        let answer = try await accepted
        #expect(answer.contains("'method': <'biometrics'>"), "\(answer)")
    }

    @Test func `with large numbers have them unsigned everywhere`() async throws {
        let scratch = try Scratch()
        let service = try await Self.service(
            [("/etc/passwd", "root:x:0:0::/:/bin/sh\nbig:x:4000000000:1::/:/bin/sh\n")],
            in: scratch)
        let client = try await TestClient(service.bus)
        let hand = service.hand(on: .storage)
        try await enrol("left-thumb", with: hand, by: client, user: "big")
        #expect(try await client.list(user: "big") == ["left-thumb"])
        let evaluation = Task { try await client.evaluate(["user": .string("big")]) }
        await client.fingerIsNeeded()
        try await hand.touch(.another, number: 0)
        await client.nextRetry()
        await client.fingerIsNeeded()
        try await hand.touch(number: 1)
        #expect(try await evaluation.value["method"] == .string("biometrics"))
        #expect(service.log.contains("uid=4000000000"))
        #expect(!service.log.contains("-294967296"))
        let states = try FileManager.default.subpathsOfDirectory(atPath: service.stateDirectory)
        #expect(!states.contains { $0.contains("-294967296") })
    }

    @Test func `with names that are no file names are none`() async throws {
        let scratch = try Scratch()
        let service = try await Self.service(
            [("/etc/passwd", "root:x:0:0::/:/bin/sh\na/b:x:1:1::/:/bin/sh\n..:x:2:2::/:/bin/sh\n")],
            in: scratch)
        for user in [1, 2] as [UInt32] {
            let stranger = OtherUser(user, on: service.bus)
            #expect(try await stranger.canEvaluate().hasPrefix("(false, -6, "))
            #expect(try await stranger.evaluate().contains("Error.BiometryNotAvailable"))
        }
        let client = try await TestClient(service.bus)
        for name in ["a/b", "..", "a", "/"] {
            let listing = Task { try await client.list(user: name) }
            if case .success = await listing.result { Issue.record("\(name) has an account") }
        }
        #expect(service.daemon.isRunning)
    }
}
