// SPDX-License-Identifier: Apache-2.0

/// Who a connection belongs to, as the bus took it from the kernel when it connected.
package struct PeerCredentials: Hashable, Sendable {
    package let userID: UInt32
    package let processID: UInt32?
    /// A pidfd of that process (dbus 1.16 and later).
    package let processDescriptor: SharedDescriptor?
    /// The label that a security module of the kernel gives it.
    package let securityLabel: String?

    /// The kernel's own limit is a page.
    private static let longestLabel = 4096

    /// Reads the answer to `GetConnectionCredentials`. What is not as the specification has it
    /// counts as not there. Without a user it is `nil`: nobody, and never root.
    package init?(_ values: [String: BusValue]) {
        // The largest number is the kernel's word for no user.
        guard case .uint32(let user)? = values["UnixUserID"], user != .max else { return nil }
        userID = user
        if case .uint32(let id)? = values["ProcessID"], id > 0, id <= Int32.max {
            processID = id
        } else {
            processID = nil
        }
        if processID != nil, case .descriptor(let descriptor)? = values["ProcessFD"] {
            processDescriptor = descriptor
        } else {
            processDescriptor = nil
        }
        if case .bytes(let bytes)? = values["LinuxSecurityLabel"] {
            securityLabel = Self.label(bytes)
        } else {
            securityLabel = nil
        }
    }

    /// A label ends with a NUL that is not part of it, and has no other.
    private static func label(_ bytes: [UInt8]) -> String? {
        guard bytes.count > 1, bytes.count <= longestLabel,
            bytes.firstIndex(of: 0) == bytes.count - 1
        else { return nil }
        return String(validating: bytes.dropLast(), as: UTF8.self)
    }
}
