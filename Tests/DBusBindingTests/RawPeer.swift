// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import SystemSupport

/// A connection to the bus that speaks the protocol by itself, so that it can say what no library
/// would.
@BusQueue final class RawPeer {
    private let socket: Int32
    private var buffer: [UInt8] = []
    private var serial: UInt32 = 1
    private var watch: PollExecutor.Token?
    private var waiting: CheckedContinuation<RawReply?, Never>?
    private var isEnded = false

    /// Connects, authenticates and says hello.
    init(_ bus: PrivateBus) throws {
        let path = bus.address.split(separator: ",")[0].dropFirst("unix:path=".count)
        socket = Foundation.socket(
            AF_UNIX,
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
                | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // SAFETY: the path is shorter than the field, which is zero behind it.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: path.utf8.prefix(field.count - 1))
        }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, size)
            }
        }
        guard result == 0 else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
        let user = "\(getuid())".utf8.map { String($0, radix: 16) }.joined()
        write(Array("\0AUTH EXTERNAL \(user)\r\nBEGIN\r\n".utf8))
        send(
            .call(
                "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
                interface: "org.freedesktop.DBus", member: "Hello"))
        watch = BusQueue.executor.watch(socket, for: .input) { [weak self] _ in
            BusQueue.assumeIsolated { self?.read() }
        }
    }

    isolated deinit { close() }

    func close() {
        guard let watch else { return }
        BusQueue.executor.unwatch(watch)
        self.watch = nil
        Foundation.close(socket)
        end()
    }

    /// Sends a message and returns its serial number.
    @discardableResult
    func send(_ message: RawMessage) -> UInt32 {
        write(message.bytes(serial: serial))
        defer { serial += 1 }
        return serial
    }

    /// The next answer to one of our calls, hello's left out; `nil` when the bus has hung up.
    func nextReply() async -> RawReply? {
        while true {
            let message: RawReply?
            if let taken = takeMessage() {
                message = taken
            } else if isEnded {
                return nil
            } else {
                message = await withCheckedContinuation { waiting = $0 }
            }
            guard let message else { return nil }
            if message.isReply, message.replySerial != 1 { return message }
        }
    }

    private func write(_ bytes: [UInt8]) {
        // Once it is closed, the descriptor's number can be somebody else's connection.
        guard !isEnded else { return }
        // Small enough for the socket's buffer.
        // SAFETY: the array outlives the call.
        unsafe bytes.withUnsafeBytes {
            unsafe _ = Foundation.send(
                socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    private func read() {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        // SAFETY: at most the chunk is written.
        let count = unsafe chunk.withUnsafeMutableBytes {
            unsafe Foundation.read(socket, $0.baseAddress, $0.count)
        }
        guard count > 0 else { return close() }
        buffer += chunk[..<count]
        guard let waiting, let message = takeMessage() else { return }
        self.waiting = nil
        waiting.resume(returning: message)
    }

    private func end() {
        isEnded = true
        waiting?.resume(returning: nil)
        waiting = nil
    }

    private func takeMessage() -> RawReply? {
        // First comes the line with which the bus agrees to who we are.
        if buffer.starts(with: Array("OK ".utf8)) {
            guard let end = buffer.firstIndex(of: 10) else { return nil }
            buffer.removeFirst(end + 1)
        }
        guard let reply = RawReply(buffer) else { return nil }
        buffer.removeFirst(reply.size)
        return reply
    }
}
