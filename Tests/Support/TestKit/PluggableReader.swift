// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A recorded reader that a program under test finds plugged in and out: `Tests/Support/hotplug`.
package struct PluggableReader: Sendable {
    package let driver: String
    /// Where it takes commands.
    package let socket: String

    private static let program = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "hotplug/plug").path

    package init(_ driver: String, socket: String) {
        self.driver = driver
        self.socket = socket
    }

    /// What stands before a program's command line.
    package var wrapper: [String] {
        [
            "/usr/bin/umockdev-wrapper", Self.program, socket, Recordings.file(driver, "device"),
            Recordings.file(driver, "capture.ioctl"),
        ]
    }

    /// What libfprint needs to take the recording for the reader.
    package var environment: [String: String] {
        [
            "FP_DEVICE_EMULATION": "1", "FP_DRIVERS_WHITELIST": driver,
            "FP_DRIVERS_ALLOWLIST": driver,
        ]
    }

    package func plug() throws(VirtualSocket.Failure) { try order("plug") }
    package func unplug() throws(VirtualSocket.Failure) { try order("unplug") }

    /// The process of the program under test.
    package func processID() throws(VirtualSocket.Failure) -> pid_t {
        pid_t(try order("pid")) ?? -1
    }

    @discardableResult
    private func order(_ word: String) throws(VirtualSocket.Failure) -> String {
        try VirtualSocket.command(word, to: socket)
    }

    /// Says so on standard error when something is missing.
    package static let isUsable: Bool = {
        guard Recordings.areUsable else { return false }
        let folder = "/usr/lib/\(machine)-linux-gnu/girepository-1.0"
        let needed = ["/usr/bin/umockdev-wrapper", folder + "/UMockdev-1.0.typelib"]
        guard let missing = needed.first(where: { !FileManager.default.fileExists(atPath: $0) })
        else { return true }
        let words = "SKIPPED: readers that are plugged in and out, for want of \(missing)\n"
        try? FileHandle.standardError.write(contentsOf: Data(words.utf8))
        return false
    }()

    #if arch(x86_64)
        private static let machine = "x86_64"
    #else
        private static let machine = "aarch64"
    #endif
}
