// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LocalAuthModel
internal import PasswordMessages
internal import SystemSupport

/// The daemon, as this program sees it. Without it there is nothing left to do: every function ends
/// the process then.
struct DaemonLink: ~Copyable {
    private let socket: MessageSocket

    /// Takes standard input, which the daemon has made a `MessageSocket`, out of the reach of what
    /// PAM's modules may start.
    init() {
        let number = fcntl(0, F_DUPFD_CLOEXEC, 3)
        let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard let descriptor = Descriptor(adopting: number), nothing >= 0, dup2(nothing, 0) == 0
        else { exit(1) }
        close(nothing)
        socket = MessageSocket(descriptor)
    }

    func tell(_ report: PasswordReport) {
        guard socket.send(report.message, waiting: true) else { exit(1) }
    }

    /// Waits for what was typed.
    func nextEntry() -> Entry {
        guard var delivery = socket.waitForMessage(limit: PasswordOrder.longestMessage),
            PasswordOrder(message: delivery.bytes) == .entry,
            let descriptor = delivery.descriptor.take()
        else { exit(1) }
        return Entry.read(descriptor)
    }
}
