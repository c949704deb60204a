// SPDX-License-Identifier: Apache-2.0

import Foundation
import SystemSupport
import Testing

private actor Listener {
    private let executor = PollExecutor(name: "changes test")
    private var count = 0
    private var waiting: CheckedContinuation<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    init() { executor.start() }

    func listen(_ changes: FileChanges) {
        changes.start(on: executor) { [self] in assumeIsolated { $0.note() } }
    }

    private func note() {
        count += 1
        waiting?.resume()
        waiting = nil
    }

    /// Waits for a change, and forgets all so far.
    func next() async {
        await withCheckedContinuation { continuation in
            if count > 0 { continuation.resume() } else { waiting = continuation }
        }
        count = 0
    }

    var isQuiet: Bool { count == 0 }
}

@Suite(.timeLimit(.minutes(1))) struct `Changes of files` {
    @Test func `are heard of, however they are made, and those of other files are not`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "changes-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "shadow")
        let changes = try #require(FileChanges(of: ["shadow"], in: folder.path))
        let listener = Listener()
        await listener.listen(changes)
        try Data("a".utf8).write(to: folder.appending(path: "other"))
        try Data("a".utf8).write(to: file)
        await listener.next()
        // In place.
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data("b".utf8))
        await listener.next()
        try handle.close()
        await listener.next()
        // Replaced, as passwd(1) does it.
        let new = folder.appending(path: "shadow+")
        try Data("c".utf8).write(to: new)
        #expect(unsafe rename(new.path, file.path) == 0)
        await listener.next()
        try FileManager.default.removeItem(at: file)
        await listener.next()
        #expect(await listener.isQuiet)
    }

    @Test func `cannot be heard of where there is no directory`() {
        #expect(FileChanges(of: ["x"], in: "/nonexistent") == nil)
        #expect(FileChanges(of: ["x"], in: "/etc/passwd") == nil)
    }
}
