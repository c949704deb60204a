// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// A SHA-256, as GLib computes it, of what is added bit by bit.
@safe package struct Digest: ~Copyable {
    package static let size = 32

    private let raw: OpaquePointer

    package init() {
        guard let raw = unsafe g_checksum_new(G_CHECKSUM_SHA256) else {
            preconditionFailure("GLib has no SHA-256")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe g_checksum_free(raw) }

    package mutating func add(_ bytes: [UInt8]) {
        // SAFETY: GLib reads the bytes before it returns, and keeps none.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe g_checksum_update(raw, start, gssize(buffer.count))
        }
    }

    /// Adds bytes after their number, so that no other sequence of fields has the same digest.
    package mutating func add(field bytes: [UInt8]) {
        add(count(of: bytes))
        add(bytes)
    }

    /// The digest of all that was added.
    package consuming func finish() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, filled in
            var size = gsize(Self.size)
            // SAFETY: GLib writes as many bytes as there is room for, and says how many.
            unsafe g_checksum_get_digest(raw, buffer.baseAddress, &size)
            filled = Int(size)
        }
    }
}

/// An HMAC with SHA-256, as GLib computes it: what only they can make who have the key.
@safe package struct MessageAuthentication: ~Copyable {
    private let raw: OpaquePointer

    package init(key: [UInt8]) {
        // SAFETY: GLib copies what it needs of the key.
        let made = unsafe key.withUnsafeBufferPointer { buffer in
            unsafe g_hmac_new(G_CHECKSUM_SHA256, buffer.baseAddress, gsize(buffer.count))
        }
        guard let made = unsafe made else { preconditionFailure("GLib has no SHA-256") }
        unsafe raw = made
    }

    deinit { unsafe g_hmac_unref(raw) }

    package mutating func add(_ bytes: [UInt8]) {
        // SAFETY: as in `Digest.add`.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe g_hmac_update(raw, start, gssize(buffer.count))
        }
    }

    /// Adds bytes after their number, so that no other sequence of fields has the same code.
    package mutating func add(field bytes: [UInt8]) {
        add(count(of: bytes))
        add(bytes)
    }

    /// The code of all that was added: 32 bytes.
    package consuming func finish() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Digest.size) { buffer, filled in
            var size = gsize(Digest.size)
            // SAFETY: as in `Digest.finish`.
            unsafe g_hmac_get_digest(raw, buffer.baseAddress, &size)
            filled = Int(size)
        }
    }
}

/// The number of bytes, in eight of them, the lowest first.
private func count(of bytes: [UInt8]) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> ($0 * 8)) }
}
