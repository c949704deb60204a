// SPDX-License-Identifier: Apache-2.0

import Foundation
import SystemSupport
import TestKit
import Testing

/// A thread of its own for the test, which hands on what it hears.
private actor Watcher {
    private let executor = PollExecutor(name: "child test")

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    init() { executor.start() }

    func end(of child: ChildProcess) async -> ChildProcess.Ending {
        await withCheckedContinuation { continuation in
            child.watchEnd(on: executor) { continuation.resume(returning: $0) }
        }
    }

    /// The next message of a child.
    func message(of child: ChildProcess, limit: Int = 4_096) async -> MessageSocket.Received {
        await withCheckedContinuation { continuation in
            var token: PollExecutor.Token?
            token = executor.watch(child.messages.rawValue, for: .input) { [executor] _ in
                if let token { executor.unwatch(token) }
                continuation.resume(returning: child.messages.receive(limit: limit))
            }
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A child process` {
    private let watcher = Watcher()

    private func python(_ script: String) throws -> ChildProcess {
        try ChildProcess(
            "/usr/bin/python3",
            ["-c", "import socket,os,sys\ns=socket.socket(fileno=0)\n" + script],
            environment: ["PATH=/usr/bin:/bin", "ONE=1"])
    }

    @Test(arguments: [0, 1, 42, 255] as [Int32])
    func `tells how it has ended`(status: Int32) async throws {
        let child = try ChildProcess("/bin/sh", ["-c", "exit \(status)"], environment: [])
        #expect(await watcher.end(of: child) == .exited(status))
        // Waited for: the kernel knows it no more.
        #expect(!FileManager.default.fileExists(atPath: "/proc/\(child.id)"))
        child.kill()
    }

    @Test func `can be ended`() async throws {
        let child = try ChildProcess("/bin/sleep", ["1000"], environment: [])
        child.kill()
        #expect(await watcher.end(of: child) == .signalled(SIGKILL))
        #expect(!FileManager.default.fileExists(atPath: "/proc/\(child.id)"))
    }

    @Test func `ends with its owner`() throws {
        let id: Int32
        do {
            let child = try ChildProcess("/bin/sleep", ["1000"], environment: [])
            id = child.id
            #expect(FileManager.default.fileExists(atPath: "/proc/\(id)"))
        }
        #expect(!FileManager.default.fileExists(atPath: "/proc/\(id)"))
    }

    @Test func `is an error when it cannot be started`() {
        let error = #expect(throws: SystemError.self) {
            try ChildProcess("/nonexistent", [], environment: [])
        }
        #expect(error == SystemError(code: ENOENT))
    }

    @Test func `inherits nothing but standard error, and no blocked signal`() async throws {
        // One that is not closed when another program is loaded, as a library may leave it.
        let leaked = unsafe open("/dev/null", O_RDONLY)
        defer { close(leaked) }
        let child = try await withBlockedSignals {
            try python(
                """
                fds = sorted(int(n) for n in os.listdir('/proc/self/fd'))
                out = os.readlink('/proc/self/fd/1')
                mask = [int(l.split()[1], 16) & 0x7fffffff for l in open('/proc/self/status')
                    if l.startswith(('SigBlk', 'SigIgn'))]
                env = {k: v for k, v in os.environ.items() if k != 'LC_CTYPE'}
                # The last one is the listing's own.
                s.send(repr((fds[:-1], out, mask, env)).encode())
                """)
        }
        guard case .message(let bytes) = await watcher.message(of: child) else {
            Issue.record("no message")
            return
        }
        // Python itself ignores SIGPIPE and SIGXFSZ. The C library has two of its own behind 31.
        #expect(
            String(decoding: bytes, as: UTF8.self) == "([0, 1, 2], '/dev/null', "
                + "[0, 16781312], {'PATH': '/usr/bin:/bin', 'ONE': '1'})")
        #expect(await watcher.end(of: child) == .exited(0))
        let rest = child.messages.receive(limit: 10)
        #expect(rest == .end)
    }

    /// Blocks and ignores signals on one thread while it does something.
    private func withBlockedSignals(
        _ work: @escaping @Sendable () throws -> ChildProcess
    ) async throws -> ChildProcess {
        try await withCheckedContinuation { continuation in
            Thread {
                var set = sigset_t()
                unsafe sigfillset(&set)
                unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
                continuation.resume(returning: Result { try work() })
            }.start()
        }.get()
    }

    @Test func `gets messages whole, and descriptors with them`() async throws {
        let child = try python(
            """
            for _ in range(2):
                data, fds, flags, _ = socket.recv_fds(s, 100, 4)
                text = b''.join(os.read(fd, 100) for fd in fds)
                s.send(data + b'|' + str(len(fds)).encode() + b'|' + text)
            """)
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("inside".utf8))
        let reading = pipe.fileHandleForReading.fileDescriptor
        let went = [
            child.messages.send(Array("one".utf8)),
            child.messages.send(Array("two".utf8), with: reading),
        ]
        #expect(went == [true, true])
        #expect(await watcher.message(of: child) == .message(Array("one|0|".utf8)))
        #expect(await watcher.message(of: child) == .message(Array("two|1|inside".utf8)))
        #expect(await watcher.end(of: child) == .exited(0))
        let wentLater = child.messages.send([1])
        #expect(!wentLater)
    }

    @Test func `cannot send more than it may`() async throws {
        let child = try python("s.send(b'x' * 11)\ns.send(b'y' * 10)")
        #expect(await watcher.message(of: child, limit: 10) == .broken)
        #expect(await watcher.message(of: child, limit: 10) == .message(Array("yyyyyyyyyy".utf8)))
        #expect(await watcher.end(of: child) == .exited(0))
    }

    @Test func `leaves nothing behind`() async throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        for _ in 0..<50 {
            let child = try ChildProcess("/bin/true", [], environment: [])
            #expect(await watcher.end(of: child) == .exited(0))
        }
        let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        // Other tests run beside this one.
        #expect(after < before + 40)
    }
}
