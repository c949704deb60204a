// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import SystemSupport

/// The client's side of the sockets that libfprint's virtual readers listen on.
///
/// Every function makes a fresh connection, which is what the readers expect, and blocks, though
/// never for longer than `wait`. None may be called on the thread that runs libfprint: that thread
/// has to take the connection.
package enum VirtualSocket {
    /// What went wrong with a socket of a virtual reader.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The path does not fit into a socket address.
        case badPath
        /// Nobody listened at the path before the time was over; with the last refusal.
        case nobody(SystemError)
        /// The reader did not take or answer what was sent.
        case broken(SystemError)

        package var description: String {
            switch self {
            case .badPath: "the path does not fit into a socket address"
            case .nobody(let error): "no reader listens there: \(error)"
            case .broken(let error): "the reader went away or is stuck: \(error)"
            }
        }
    }

    /// How long to wait unless told otherwise.
    package static let patience: Duration = .seconds(10)

    /// Lays a finger on `virtual_image`. The reader reads it when it next scans.
    package static func send(
        _ image: GreyImage, to path: String, wait: Duration = patience
    ) throws(Failure) {
        let head = words(Int32(image.width), Int32(image.height))
        try write(head + image.pixels, to: path, wait: wait)
    }

    /// Makes the scan of `virtual_image` end with the `FpDeviceRetry` of this number.
    package static func sendRetry(
        _ number: Int32, to path: String, wait: Duration = patience
    ) throws(Failure) { try write(words(-1, number), to: path, wait: wait) }

    /// Makes the scan of `virtual_image` end with the `FpDeviceError` of this number.
    package static func sendError(
        _ number: Int32, to path: String, wait: Duration = patience
    ) throws(Failure) { try write(words(-2, number), to: path, wait: wait) }

    /// Pulls the plug of `virtual_image`.
    package static func unplug(_ path: String, wait: Duration = patience) throws(Failure) {
        try write(words(-5, 0), to: path, wait: wait)
    }

    /// Gives `virtual_device` or `virtual_device_storage` one command, such as `SCAN x`; returns
    /// what it answers, once it has hung up: only then has it taken the command.
    package static func command(
        _ text: String, to path: String, wait: Duration = patience
    ) throws(Failure) -> String {
        let end = ContinuousClock.now + wait
        let connection = try connect(to: path, wait: wait)
        try write(Array(text.utf8), on: connection, until: end)
        return String(decoding: try readToEnd(connection, until: end), as: UTF8.self)
    }

    /// A connection to the reader, made as soon as it listens: a reader does so only while open.
    package static func connect(
        to path: String, wait: Duration = patience
    ) throws(Failure) -> Descriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // SAFETY: the copy stays below the size of `sun_path`, whose last byte stays 0.
        let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard !bytes.isEmpty, bytes.count < room.count, !bytes.contains(0) else { return false }
            unsafe room.copyBytes(from: bytes)
            return true
        }
        guard fits else { throw .badPath }

        let end = ContinuousClock.now + wait
        while true {
            let type = Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK
            guard let attempt = Descriptor(adopting: socket(AF_UNIX, type, 0)) else {
                throw .broken(.last)
            }
            // SAFETY: `address` is a whole sockaddr_un and lives through the call.
            let result = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                    unsafe Glibc.connect(
                        attempt.rawValue, general, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            if result == 0 { return attempt }
            let refusal = SystemError.last
            // ENOENT: never opened; ECONNREFUSED: closed again; EAGAIN: its queue of one is full.
            guard [ENOENT, ECONNREFUSED, EAGAIN, EINTR].contains(refusal.code),
                ContinuousClock.now < end
            else { throw .nobody(refusal) }
            usleep(10_000)
        }
    }

    private static func write(
        _ bytes: [UInt8], to path: String, wait: Duration
    ) throws(Failure) {
        let end = ContinuousClock.now + wait
        let connection = try connect(to: path, wait: wait)
        try write(bytes, on: connection, until: end)
    }

    private static func write(
        _ bytes: [UInt8], on connection: borrowing Descriptor, until end: ContinuousClock.Instant
    ) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // SAFETY: the slice's memory outlives the call, which reads no more than its count.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(
                    connection.rawValue, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else {
                try waitOrGiveUp(.last, connection, for: Int16(POLLOUT), until: end)
            }
        }
    }

    private static func readToEnd(
        _ connection: borrowing Descriptor, until end: ContinuousClock.Instant
    ) throws(Failure) -> [UInt8] {
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            // SAFETY: the buffer outlives the call, which writes no more than its count.
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe recv(connection.rawValue, bytes.baseAddress, bytes.count, 0)
            }
            if count == 0 { return answer }
            if count > 0 {
                answer += buffer.prefix(count)
            } else {
                try waitOrGiveUp(.last, connection, for: Int16(POLLIN), until: end)
            }
        }
    }

    private static func waitOrGiveUp(
        _ error: SystemError, _ connection: borrowing Descriptor, for events: Int16,
        until end: ContinuousClock.Instant
    ) throws(Failure) {
        guard [EAGAIN, EINTR].contains(error.code) else { throw .broken(error) }
        guard ContinuousClock.now < end else { throw .broken(SystemError(code: ETIMEDOUT)) }
        var wanted = pollfd(fd: connection.rawValue, events: events, revents: 0)
        // SAFETY: one pollfd, alive through the call. A tenth of a second, then the clock again.
        _ = unsafe poll(&wanted, 1, 100)
    }

    /// Two numbers of `virtual_image`'s protocol, in the machine's byte order.
    private static func words(_ first: Int32, _ second: Int32) -> [UInt8] {
        [first, second].flatMap { word -> [UInt8] in
            let bits = UInt32(bitPattern: word)
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
            return bits.littleEndian == bits ? bytes : bytes.reversed()
        }
    }
}
