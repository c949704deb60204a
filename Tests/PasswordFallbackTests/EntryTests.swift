// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import CLinux
import Foundation
import LocalAuthModel
import SystemSupport
import Testing

/// What is handed over instead of a password, to the real program.
@Suite(.timeLimit(.minutes(2))) struct `An entry` {
    /// PAM's part says yes to "right" and nothing else.
    private static func scene() throws -> PasswordScene {
        let scratch = try Scratch()
        let passwords = try scratch.write("passdb", "root:right:test\n")
        return try PasswordScene(
            services: [
                "test": """
                auth optional pam_echo.so PAM was started
                auth required \(matrix) passdb=\(passwords)
                account required \(matrix) passdb=\(passwords)

                """
            ], scratch: scratch)
    }

    @Test func `is right or wrong`() async throws {
        let scene = try Self.scene()
        #expect(await scene.check("right") == .correct)
        #expect(await scene.check("wrong") == .wrong)
        #expect(await scene.check("right\n") == .wrong)
        #expect(await scene.check(" right") == .wrong)
    }

    @Test func `that is empty is none, and PAM hears nothing of it`() async throws {
        let scene = try Self.scene()
        #expect(await scene.check("") == .empty)
        #expect(await scene.person.texts.entries == [])
        #expect(await scene.check("wrong") == .wrong)
        #expect(await scene.person.texts.entries != [])
    }

    @Test func `that can be no password is wrong, and PAM hears nothing of it`() async throws {
        let scene = try Self.scene()
        let nul: [UInt8] = Array("right".utf8) + [0] + Array("x".utf8)
        #expect(await scene.check(TypedEntry(nul)) == .wrong)
        #expect(await scene.check(TypedEntry([0])) == .wrong)
        #expect(await scene.check(TypedEntry([UInt8](repeating: 0x61, count: 513))) == .wrong)
        #expect(await scene.check(TypedEntry([UInt8](repeating: 0x61, count: 60_000))) == .wrong)
        #expect(await scene.person.texts.entries == [])
        // The longest that PAM takes gets there.
        #expect(await scene.check(TypedEntry([UInt8](repeating: 0x61, count: 512))) == .wrong)
        #expect(await scene.person.texts.entries != [])
    }

    @Test func `need not be text`() async throws {
        let scene = try Self.scene()
        #expect(await scene.check(TypedEntry([0xff, 0xfe, 0x0a, 0x1b])) == .wrong)
    }

    @Test func `may come in pieces, and by a stream`() async throws {
        let scene = try Self.scene()
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        let entry = TypedEntry(adopting: ends[0])
        async let verdict = scene.check(entry)
        for piece in ["r", "ig", "ht"] { try writing.write(contentsOf: Data(piece.utf8)) }
        try writing.close()
        #expect(await verdict == .correct)
    }

    /// Opens something that is no pipe.
    private static func open(_ what: String) -> Int32 {
        func socket(_ kind: __socket_type) -> Int32 {
            var ends: [Int32] = [-1, -1]
            guard unsafe socketpair(AF_UNIX, Int32(kind.rawValue), 0, &ends) == 0 else { return -1 }
            _ = unsafe send(ends[1], "right", 5, 0)
            close(ends[1])
            return ends[0]
        }
        let number: Int32 =
            switch what {
            case "datagram socket": socket(SOCK_DGRAM)
            case "packet socket": socket(SOCK_SEQPACKET)
            case "listening socket":
                Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            case "directory": unsafe Glibc.open("/", O_RDONLY)
            case "event": eventfd(1, 0)
            case "path": unsafe Glibc.open("/etc/passwd", O_RDONLY | 0o10000000)
            default: unsafe Glibc.open(what, O_RDWR)
            }
        return number
    }

    @Test(arguments: [
        "/dev/null", "/dev/zero", "/dev/full", "/dev/ptmx", "/etc/passwd", "directory", "event",
        "path", "datagram socket", "packet socket", "listening socket",
    ])
    func `that is no pipe or stream is refused at once`(what: String) async throws {
        let scene = try Self.scene()
        let number = Self.open(what)
        #expect(number >= 0)
        let begun = ContinuousClock.now
        #expect(await scene.check(TypedEntry(adopting: number)) == .unavailable)
        #expect(.now - begun < .seconds(8))
        #expect(await scene.person.texts.entries == [])
        #expect(try scene.helpers() == [])
    }

    @Test func `that is a pipe's writing end is refused`() async throws {
        let scene = try Self.scene()
        let pipe = Pipe()
        let copy = dup(pipe.fileHandleForWriting.fileDescriptor)
        #expect(await scene.check(TypedEntry(adopting: copy)) == .unavailable)
    }

    @Test func `whose writer never closes is waited for ten seconds, and no more`() async throws {
        let scene = try Self.scene()
        let begun = ContinuousClock.now
        let verdict = await scene.check(TypedEntry("right".utf8, staysOpen: true))
        #expect(verdict == .unavailable)
        let time = ContinuousClock.now - begun
        #expect(time > .seconds(9) && time < .seconds(30), "\(time)")
        #expect(try scene.helpers() == [])
    }
}
