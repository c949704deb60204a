// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import Glibc
import Testing

@testable import localauthctl

@Suite struct `What is typed` {
    /// Both ends of a pipe that does not block.
    private struct Ends {
        let reading: SharedDescriptor
        let writing: SharedDescriptor

        init() {
            var ends: [Int32] = [-1, -1]
            // SAFETY: the kernel writes two numbers.
            unsafe _ = pipe(&ends)
            reading = SharedDescriptor(adopting: ends[0])
            writing = SharedDescriptor(adopting: ends[1])
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        }

        func write(_ text: String) {
            let bytes = Array(text.utf8)
            // SAFETY: the array outlives the call.
            unsafe _ = Glibc.write(writing.rawValue, bytes, bytes.count)
        }

        func read() -> [UInt8] { contents(of: reading.rawValue) }
    }

    private static func contents(of descriptor: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 2_000)
        // SAFETY: at most the buffer's size is written.
        let count = unsafe read(descriptor, &buffer, buffer.count)
        return Array(buffer.prefix(max(0, count)))
    }

    // What cannot be copied cannot stand in an expectation.

    private static func check(_ secret: borrowing Secret, isEmpty: Bool) {
        let isReallyEmpty = secret.isEmpty
        #expect(isReallyEmpty == isEmpty)
    }

    private static func check(
        _ secret: inout Secret, _ descriptor: Int32, _ expected: Secret.Input
    ) {
        let input = secret.read(from: descriptor)
        #expect(input == expected)
    }

    @Test(arguments: ["word\n", "word\nmore\nlines", "word\n\n"])
    func `is a line without its end, and nothing behind it`(text: String) throws {
        let ends = Ends()
        ends.write(text)
        var secret = Secret()
        Self.check(&secret, ends.reading.rawValue, .line)
        Self.check(secret, isEmpty: false)
        let handed = secret.intoPipe()
        let pipe = try #require(handed)
        Self.check(secret, isEmpty: true)
        #expect(Self.contents(of: pipe.rawValue) == Array("word".utf8))
        // The end of it, not a pipe that is still open.
        var byte: UInt8 = 0
        // SAFETY: one byte.
        #expect(unsafe read(pipe.rawValue, &byte, 1) == 0)
        #expect(fcntl(pipe.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(pipe.rawValue, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test func `can come in pieces`() throws {
        let ends = Ends()
        var secret = Secret()
        Self.check(&secret, ends.reading.rawValue, .nothing)
        ends.write("wo")
        Self.check(&secret, ends.reading.rawValue, .nothing)
        ends.write("rd\nrest")
        Self.check(&secret, ends.reading.rawValue, .line)
        let handed = secret.intoPipe()
        let pipe = try #require(handed)
        #expect(Self.contents(of: pipe.rawValue) == Array("word".utf8))
    }

    @Test func `can be nothing`() throws {
        let ends = Ends()
        ends.write("\n")
        var secret = Secret()
        Self.check(&secret, ends.reading.rawValue, .line)
        Self.check(secret, isEmpty: true)
        let handed = secret.intoPipe()
        let pipe = try #require(handed)
        #expect(Self.contents(of: pipe.rawValue) == [])
    }

    @Test func `ends a prompt only where a line would begin`() {
        // What has no more to give reads as a terminal does at Ctrl-D.
        // SAFETY: the literal is only read.
        let end = SharedDescriptor(adopting: unsafe open("/dev/null", O_RDONLY | O_CLOEXEC))
        var secret = Secret()
        Self.check(&secret, end.rawValue, .end)
        let ends = Ends()
        ends.write("half")
        Self.check(&secret, ends.reading.rawValue, .nothing)
        Self.check(&secret, end.rawValue, .nothing)
        secret.wipe()
        Self.check(&secret, -1, .end)
    }

    @Test func `has at most 512 bytes`() throws {
        let ends = Ends()
        var secret = Secret()
        ends.write(String(repeating: "x", count: Secret.limit) + "\n")
        Self.check(&secret, ends.reading.rawValue, .line)
        let handed = secret.intoPipe()
        let pipe = try #require(handed)
        #expect(Self.contents(of: pipe.rawValue).count == Secret.limit)
        ends.write(String(repeating: "x", count: Secret.limit + 1) + "\n")
        Self.check(&secret, ends.reading.rawValue, .tooLong)
        Self.check(secret, isEmpty: true)
    }
}
