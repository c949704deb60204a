// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import Glibc

/// What somebody types on a terminal that does not show it: one copy in this program, wiped when
/// it has gone on its way. Any bytes, as they were typed.
@safe struct Secret: ~Copyable {
    /// More is no password; and less than a pipe takes without a reader (PIPE_BUF is 4,096).
    static let limit = 512

    /// What one look at the terminal came to.
    enum Input: Equatable {
        /// Nothing, or not yet a whole line.
        case nothing
        /// A line, now here without its end.
        case line
        /// More than any password, thrown away.
        case tooLong
        /// Ctrl-D where a line would begin, or the terminal has gone.
        case end
    }

    // SAFETY: made and freed here, and used only within its size.
    private let bytes: UnsafeMutableRawBufferPointer
    private var count = 0

    init() {
        unsafe bytes = .allocate(byteCount: Self.limit + 1, alignment: 1)
        wipe()
    }

    deinit {
        unsafe Self.wipe(bytes)
        unsafe bytes.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    /// Reads what is there, at most to the end of the first line; what comes behind that end in
    /// the same piece is thrown away.
    mutating func read(from descriptor: Int32) -> Input {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
        let size = unsafe Glibc.read(descriptor, room.baseAddress, room.count)
        guard size > 0 else {
            let isNothing = size < 0 ? errno == EAGAIN || errno == EINTR : count > 0
            return isNothing ? .nothing : .end
        }
        if let end = unsafe room.prefix(size).firstIndex(of: UInt8(ascii: "\n")) {
            count += end
            unsafe Self.wipe(UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
            return .line
        }
        count += size
        guard count <= Self.limit else {
            wipe()
            return .tooLong
        }
        return .nothing
    }

    /// Hands it over: the reading end of a pipe with all of it. Nothing stays here.
    mutating func intoPipe() -> SharedDescriptor? {
        defer { wipe() }
        var ends: [Int32] = [-1, -1]
        // SAFETY: the kernel writes two numbers. No other program is ever started from here.
        guard unsafe pipe(&ends) == 0 else { return nil }
        let reading = SharedDescriptor(adopting: ends[0])
        let writing = SharedDescriptor(adopting: ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(writing.rawValue, F_SETFL, O_NONBLOCK)
        // An empty pipe takes it at once and whole.
        let written = unsafe write(writing.rawValue, bytes.baseAddress, count)
        return written == count ? reading : nil
    }

    mutating func wipe() {
        unsafe Self.wipe(bytes)
        count = 0
    }

    private static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        // SAFETY: not optimised away, unlike `memset`.
        unsafe explicit_bzero(start, bytes.count)
    }
}
