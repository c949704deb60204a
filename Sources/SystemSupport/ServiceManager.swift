// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Tells the service manager that has started us how we are, if there is one that wants to know
/// (sd_notify(3)). Never waits, and says nothing when it cannot.
package final class ServiceManager: Sendable {
    private let address: UnixAddress?
    private let socket: DatagramSocket?

    /// Finds it by `NOTIFY_SOCKET`, which is then taken out of the environment: no child of ours is
    /// to speak in our name. Belongs before any thread is there.
    package init() {
        let text = unsafe getenv("NOTIFY_SOCKET").map { unsafe String(cString: $0) }
        // SAFETY: the literal is only read; no other thread looks at the environment yet.
        unsafe _ = unsetenv("NOTIFY_SOCKET")
        address = text.flatMap { UnixAddress($0) }
        socket = address == nil ? nil : DatagramSocket()
    }

    /// Whether there is one.
    package var isPresent: Bool { address != nil }

    /// We can be used now.
    package func tellReady() { tell("READY=1") }

    /// What we are about, in words for people, on one line.
    package func tellStatus(_ text: String) {
        tell("STATUS=\(String(text.map { $0.isNewline ? " " : $0 }))")
    }

    /// We are about to leave. From now on requests to start us wait until we have left.
    package func tellStopping() { tell("STOPPING=1") }

    /// We need so much more time to leave.
    package func tellStoppingTakes(_ duration: Duration) {
        tell("EXTEND_TIMEOUT_USEC=\(duration.components.seconds * 1_000_000)")
    }

    /// A wait until the manager has taken in all that was told before; `nil` without a manager.
    package func barrier() -> Barrier? {
        guard let address, socket != nil else { return nil }
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel writes two numbers.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        defer { close(ends[1]) }
        guard let end = Descriptor(adopting: ends[0]),
            socket?.send(Array("BARRIER=1".utf8), to: address, with: ends[1]) == true
        else { return nil }
        return Barrier(end)
    }

    private func tell(_ line: String) {
        if let address { _ = socket?.send(Array(line.utf8), to: address) }
    }
}

extension ServiceManager {
    /// One end of a connection whose other end the manager closes when it comes to it.
    package final class Barrier: Sendable {
        private let end: Descriptor

        fileprivate init(_ end: consuming Descriptor) { self.end = end }

        /// Calls `action` once, on the executor's thread, when the manager has come to it.
        package func watch(on executor: PollExecutor, action: @escaping () -> Void) {
            var token: PollExecutor.Token?
            // The watch keeps the end open until then.
            token = executor.watch(end.rawValue, for: .input) { [self] _ in
                if let token { executor.unwatch(token) }
                withExtendedLifetime(self) { action() }
            }
        }
    }
}
