// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LocalAuthModel
internal import SystemSupport

/// What came of reading what somebody has typed.
enum Entry: ~Copyable {
    /// It may be empty.
    case secret(Secret)
    /// It can be no password, or it could not be read.
    case refused(PasswordVerdict)

    /// How long whoever has typed it may take to close their end.
    private static let patience: UInt64 = 10_000_000_000

    /// Reads a pipe or a stream to its end.
    ///
    /// The descriptor comes from somebody's program. Anything but a pipe or a stream could be made
    /// to hang, and whoever shares one can empty it or change its flags while it is read.
    static func read(_ descriptor: borrowing Descriptor) -> Entry {
        // Ends this process where the time below cannot be kept.
        alarm(12)
        defer { alarm(0) }
        let number = descriptor.rawValue
        guard isPipeOrStream(number), var secret = Secret() else { return .refused(.unavailable) }
        let end = BootClock.nanoseconds() &+ patience
        while !secret.isTooLong {
            let now = BootClock.nanoseconds()
            guard now < end, waitForInput(number, atMost: end - now) else {
                return .refused(.unavailable)
            }
            let got = secret.readMore(from: number)
            if got == 0 { break }
            guard got > 0 || errno == EAGAIN || errno == EINTR else {
                return .refused(.unavailable)
            }
        }
        // PAM's answers are C strings of a certain length. What is none of them is nobody's
        // password, so PAM is not asked and counts nothing.
        if secret.isTooLong || secret.holdsNull { return .refused(.wrong) }
        return .secret(secret)
    }

    private static func isPipeOrStream(_ number: Int32) -> Bool {
        var status = stat()
        // SAFETY: the kernel fills the struct.
        guard unsafe fstat(number, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFIFO: return true
        case S_IFSOCK:
            var kind: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            // SAFETY: the kernel writes one number.
            let result = unsafe getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &size)
            return result == 0 && kind == Int32(SOCK_STREAM.rawValue)
        default: return false
        }
    }

    /// Whether there is something to read, or an end, in time.
    private static func waitForInput(_ number: Int32, atMost nanoseconds: UInt64) -> Bool {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        // SAFETY: one entry, which is ours.
        let count = unsafe poll(&entry, 1, Int32(clamping: nanoseconds / 1_000_000 + 1))
        if count < 0 && errno == EINTR { return true }
        return count > 0 && entry.revents & Int16(POLLNVAL | POLLERR) == 0
    }
}
