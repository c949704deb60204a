// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where a socket of the family `AF_UNIX` is: a path, or an abstract name behind an `@`.
struct UnixAddress: Sendable {
    private let bytes: [UInt8]
    private let isAbstract: Bool

    /// `nil` for what is neither, and for what no address has room for.
    init?(_ text: String) {
        bytes = Array(text.utf8)
        isAbstract = bytes.first == UInt8(ascii: "@")
        let isPath = bytes.first == UInt8(ascii: "/")
        let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        guard isPath || (isAbstract && bytes.count > 1), !bytes.contains(0), bytes.count < room
        else { return nil }
    }

    /// Calls `body` with the address in the kernel's form and its length.
    func withRaw<T>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // SAFETY: `init` has checked that the bytes and a NUL fit; the copy lives during the call.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            unsafe path.copyBytes(from: bytes)
            // An abstract name begins with a NUL and has none at its end.
            if isAbstract { unsafe path[0] = 0 }
        }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = start + bytes.count + (isAbstract ? 0 : 1)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(length))
            }
        }
    }
}

/// Sends datagrams to sockets of this machine. Never waits: what does not go at once does not go.
struct DatagramSocket: ~Copyable, Sendable {
    private let descriptor: Descriptor

    init?() {
        guard let descriptor = Descriptor(adopting: socket(AF_UNIX, Self.kind, 0)) else {
            return nil
        }
        self.descriptor = descriptor
    }

    private static let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    /// Sends the bytes, and with them a descriptor of ours if there is one; whether it went.
    @discardableResult
    func send(_ bytes: [UInt8], to address: UnixAddress, with passed: Int32? = nil) -> Bool {
        unsafe address.withRaw { name, length in
            // SAFETY: the address lives during the call.
            unsafe sendMessage(
                bytes, on: descriptor.rawValue, to: name, length, with: passed,
                flags: Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
    }
}
