// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SystemSupport

/// libfprint's `virtual_device` or `virtual_device_storage`, as seen from the other end of its
/// socket.
///
/// The socket is there only while the reader is open (or after `SET_KEEP_ALIVE 1`). Commands are
/// queued until the reader's work uses them up. Never to be used on libfprint's own thread.
package struct VirtualReader: Sendable {
    /// Which of the two it is.
    package enum Driver: String, CaseIterable, Sendable {
        /// Can verify, and no more.
        case device = "virtual_device"
        /// Can identify, and keeps prints in its own memory.
        case storage = "virtual_device_storage"

        /// The environment variable that names the socket.
        package var variable: String {
            switch self {
            case .device: "FP_VIRTUAL_DEVICE"
            case .storage: "FP_VIRTUAL_DEVICE_STORAGE"
            }
        }
    }

    package let path: String

    package init(path: String) { self.path = path }

    /// Gives one command to a reader that is open, and returns what is answered once the reader
    /// has taken it.
    @discardableResult
    package func send(_ command: String) throws(VirtualSocket.Failure) -> String {
        try VirtualSocket.command(command, to: path)
    }

    /// Gives commands, one after the other, as soon as the reader is open.
    package func sendWhenOpen(_ commands: String...) async throws {
        try await onThread { for command in commands { try send(command) } }
    }

    /// Whether the reader has ever been opened.
    package var wasOpened: Bool { FileManager.default.fileExists(atPath: path) }

    /// Whether the reader is open.
    package var isOpen: Bool {
        do throws(VirtualSocket.Failure) {
            _ = try VirtualSocket.connect(to: path, wait: .zero)
            return true
        } catch {
            return false
        }
    }

    /// Returns when the reader is closed. Nobody may give commands meanwhile.
    package func waitUntilClosed() async throws { try await waitUntil(isOpen: false) }

    /// Returns when the reader is open.
    package func waitUntilOpen() async throws { try await waitUntil(isOpen: true) }

    private func waitUntil(isOpen wanted: Bool) async throws {
        try await onThread {
            let end = ContinuousClock.now + .seconds(30)
            while isOpen != wanted {
                guard ContinuousClock.now < end else {
                    throw VirtualSocket.Failure.broken(SystemError(code: ETIMEDOUT))
                }
                usleep(5_000)
            }
        }
    }

    /// Does what blocks on a thread of its own: those of the pool are few.
    private func onThread(_ work: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try work() }) }.start()
        }
    }
}
