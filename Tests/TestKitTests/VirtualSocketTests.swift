// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite struct `Virtual sockets` {
    @Test func `nobody at the path is told when the time is over`() {
        let error = #expect(throws: VirtualSocket.Failure.self) {
            try VirtualSocket.unplug("/nonexistent/reader", wait: .milliseconds(20))
        }
        guard case .nobody = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["", String(repeating: "x", count: 108), "a\0b"])
    func `a path that is no socket address is refused at once`(path: String) {
        #expect(throws: VirtualSocket.Failure.badPath) { try VirtualSocket.unplug(path) }
    }
}
