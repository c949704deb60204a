// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A socket of a test's own that takes datagrams, as journald's and the service manager's do.
package final class DatagramInbox: Sendable {
    /// What came: the bytes, and whether a descriptor came along.
    package struct Datagram: Sendable {
        package let bytes: [UInt8]
        package let hadDescriptor: Bool

        package var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Everything that comes, as it comes; for one reader.
    package let datagrams: AsyncStream<Datagram>
    private let descriptor: Int32
    private let isStopped = Mutex(false)

    /// Binds a socket to a path, or to an abstract name behind an `@`.
    ///
    /// Descriptors that come are closed at once, as a service manager does to tell that it has
    /// taken something in; or, with `keepsDescriptors`, only at the end.
    package init(_ name: String, keepsDescriptors: Bool = false) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        self.descriptor = descriptor
        let (datagrams, feed) = AsyncStream<Datagram>.makeStream()
        self.datagrams = datagrams
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(name.utf8)
        // SAFETY: names in tests are short; the address lives during the call.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            unsafe path.copyBytes(from: bytes)
            if bytes.first == UInt8(ascii: "@") { unsafe path[0] = 0 }
        }
        let length = socklen_t(2 + bytes.count)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length)
            }
        }
        guard result == 0 else { throw CocoaError(.fileWriteUnknown) }
        // Reading blocks, and whoever sends to us must not find us slow.
        Thread {
            var kept: [Int32] = []
            while let (datagram, passed) = Self.receive(from: descriptor) {
                if let passed { kept.append(passed) }
                if !keepsDescriptors {
                    for passed in kept { close(passed) }
                    kept = []
                }
                feed.yield(datagram)
            }
            feed.finish()
            for passed in kept + [descriptor] { close(passed) }
        }.start()
    }

    deinit { stop() }

    /// Ends the stream behind what has come.
    package func stop() {
        // Once: the thread then closes the descriptor, and its number can be somebody else's.
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        if isFirst { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    /// `nil` at the end.
    private static func receive(from descriptor: Int32) -> (Datagram, passed: Int32?)? {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var control = [UInt64](repeating: 0, count: 8)
        return unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe control.withUnsafeMutableBytes { control in
                var part = unsafe iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
                // SAFETY: all of it outlives the call.
                return unsafe withUnsafeMutablePointer(to: &part) {
                    part -> (Datagram, passed: Int32?)? in
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = part
                    unsafe message.msg_iovlen = 1
                    unsafe message.msg_control = control.baseAddress
                    unsafe message.msg_controllen = control.count
                    let count = unsafe recvmsg(descriptor, &message, 0)
                    guard count > 0 else { return nil }
                    var passed: Int32?
                    if unsafe message.msg_controllen > MemoryLayout<cmsghdr>.size {
                        passed = unsafe control.load(
                            fromByteOffset: MemoryLayout<cmsghdr>.size, as: Int32.self)
                    }
                    let bytes = unsafe Array(buffer.prefix(count))
                    return (Datagram(bytes: bytes, hadDescriptor: passed != nil), passed)
                }
            }
        }
    }
}

/// The fields of an entry in journald's native form, in order; `nil` when it is malformed.
package func journalFields(_ bytes: [UInt8]) -> [(name: String, value: String)]? {
    var fields: [(String, String)] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
            fields.append(
                (
                    String(decoding: line[..<equals], as: UTF8.self),
                    String(decoding: line[(equals + 1)...], as: UTF8.self)
                ))
            continue
        }
        guard rest.count >= 8 else { return nil }
        let count = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        guard count < UInt64(rest.count),
            rest[rest.startIndex + Int(count)] == UInt8(ascii: "\n")
        else { return nil }
        fields.append(
            (
                String(decoding: line, as: UTF8.self),
                String(decoding: rest.prefix(Int(count)), as: UTF8.self)
            ))
        rest = rest.dropFirst(Int(count) + 1)
    }
    return fields
}
