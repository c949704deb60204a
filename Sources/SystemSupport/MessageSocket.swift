// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One end of a connection within this machine that carries whole messages (`SOCK_SEQPACKET`), and
/// descriptors with them.
package struct MessageSocket: ~Copyable, Sendable {
    /// What there was to receive.
    package enum Received: Hashable, Sendable {
        case message([UInt8])
        case nothing
        /// The other end is closed.
        case end
        /// A message that is longer than it may be, or an error.
        case broken
    }

    /// A message and what came with it.
    package struct Delivery: ~Copyable {
        package let bytes: [UInt8]
        package var descriptor: Descriptor?
    }

    private let descriptor: Descriptor

    package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    package var rawValue: Int32 { descriptor.rawValue }

    /// Makes both ends; the far one is closed when `body` has returned.
    init(connectedTo body: (Int32) throws(SystemError) -> Void) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        // SAFETY: the kernel writes two numbers.
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError.last }
        defer { close(ends[1]) }
        do throws(SystemError) {
            try body(ends[1])
        } catch {
            close(ends[0])
            throw error
        }
        guard let near = Descriptor(adopting: ends[0]) else { throw SystemError(code: EBADF) }
        descriptor = near
    }

    /// Sends a message and, with it, a descriptor of ours if there is one; whether it went. Waits
    /// for room only where that is wanted.
    package func send(
        _ bytes: [UInt8], with passed: Int32? = nil, waiting: Bool = false
    ) -> Bool {
        let flags = Int32(MSG_NOSIGNAL) | (waiting ? 0 : Int32(MSG_DONTWAIT))
        return unsafe sendMessage(bytes, on: rawValue, to: nil, 0, with: passed, flags: flags)
    }

    /// Takes the next message, if there is one; descriptors that come with it are closed.
    package func receive(limit: Int) -> Received {
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        // SAFETY: the kernel writes at most `count` bytes.
        let count = unsafe recv(rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? .nothing : .broken }
        guard count > 0 else { return .end }
        guard count <= limit else { return .broken }
        return .message(Array(bytes[..<count]))
    }

    /// Waits for the next message; `nil` when none will come, when it is longer than it may be, or
    /// when more than one descriptor came with it.
    package func waitForMessage(limit: Int) -> Delivery? {
        var bytes = [UInt8](repeating: 0, count: limit)
        // Room for one descriptor and no padding, so that no second one fits in.
        let header = MemoryLayout<cmsghdr>.size
        let length = header + MemoryLayout<Int32>.size
        return unsafe withUnsafeTemporaryAllocation(
            byteCount: length, alignment: MemoryLayout<cmsghdr>.alignment
        ) { control in
            // SAFETY: all that the message points to outlives the call, and the kernel writes at
            // most as much as it is told that there is.
            unsafe control.initializeMemory(as: UInt8.self, repeating: 0)
            var message = unsafe msghdr()
            unsafe message.msg_control = control.baseAddress
            unsafe message.msg_controllen = length
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                var part = unsafe iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
                return unsafe withUnsafeMutablePointer(to: &part) { part in
                    unsafe message.msg_iov = part
                    unsafe message.msg_iovlen = 1
                    var count = -1
                    repeat {
                        count = unsafe recvmsg(rawValue, &message, Int32(MSG_CMSG_CLOEXEC))
                    } while count < 0 && errno == EINTR
                    return count
                }
            }
            var descriptor: Descriptor?
            if count >= 0, unsafe message.msg_controllen >= length {
                let head = unsafe control.load(as: cmsghdr.self)
                if head.cmsg_level == SOL_SOCKET, head.cmsg_type == Int32(SCM_RIGHTS) {
                    descriptor = Descriptor(
                        adopting: unsafe control.load(fromByteOffset: header, as: Int32.self))
                }
            }
            let cut = Int32(MSG_TRUNC) | Int32(MSG_CTRUNC)
            guard count > 0, unsafe message.msg_flags & cut == 0 else { return nil }
            return Delivery(bytes: Array(bytes[..<count]), descriptor: descriptor)
        }
    }
}

/// Sends bytes, and with them a descriptor of ours if there is one; whether they went.
@unsafe func sendMessage(
    _ bytes: [UInt8], on socket: Int32, to name: UnsafePointer<sockaddr>?, _ length: socklen_t,
    with passed: Int32?, flags: Int32
) -> Bool {
    var bytes = bytes
    // One header and one number behind it, aligned as `CMSG_SPACE` would (cmsg(3)); its macros are
    // not there for Swift.
    let header = MemoryLayout<cmsghdr>.size
    return unsafe withUnsafeTemporaryAllocation(
        byteCount: header + MemoryLayout<Int>.size, alignment: MemoryLayout<cmsghdr>.alignment
    ) { control in
        // SAFETY: all that the message points to outlives the call, and the kernel reads it only;
        // the address is not written to, though its type would allow it. The control buffer has
        // room for both of its parts.
        unsafe bytes.withUnsafeMutableBytes { buffer in
            var part = unsafe iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
            return unsafe withUnsafeMutablePointer(to: &part) { part in
                var message = unsafe msghdr()
                unsafe message.msg_name = UnsafeMutableRawPointer(mutating: name)
                unsafe message.msg_namelen = length
                unsafe message.msg_iov = part
                unsafe message.msg_iovlen = 1
                if let passed {
                    unsafe control.initializeMemory(as: UInt8.self, repeating: 0)
                    var head = cmsghdr()
                    head.cmsg_len = header + MemoryLayout<Int32>.size
                    head.cmsg_level = SOL_SOCKET
                    head.cmsg_type = Int32(SCM_RIGHTS)
                    unsafe control.storeBytes(of: head, as: cmsghdr.self)
                    unsafe control.storeBytes(of: passed, toByteOffset: header, as: Int32.self)
                    unsafe message.msg_control = control.baseAddress
                    unsafe message.msg_controllen = control.count
                }
                return unsafe sendmsg(socket, &message, flags) >= 0
            }
        }
    }
}
