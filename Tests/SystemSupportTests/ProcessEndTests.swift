// SPDX-License-Identifier: Apache-2.0

import CLinux
import Foundation
import SystemSupport
import Testing

@Suite struct `A process that is held` {
    @Test func `is alive until it has ended, also before it is waited for`() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/cat")
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        guard let descriptor = Descriptor(adopting: pidfd_open(process.processIdentifier, 0))
        else {
            Issue.record("no pidfd")
            return
        }
        #expect(!hasProcessEnded(descriptor.rawValue))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(hasProcessEnded(descriptor.rawValue))
        #expect(hasProcessEnded(descriptor.rawValue))
    }

    @Test func `counts as ended where nobody can tell`() {
        #expect(hasProcessEnded(-1))
        // Not open.
        #expect(hasProcessEnded(Int32.max))
    }
}
