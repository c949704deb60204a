// SPDX-License-Identifier: Apache-2.0

/// Where libfprint keeps an object that we hold a reference to: compared, never followed.
struct ObjectAddress: Hashable, Sendable {
    private let bits: UInt

    init(_ raw: OpaquePointer) { bits = UInt(bitPattern: raw) }
    init<Object>(_ raw: UnsafeMutablePointer<Object>) { bits = UInt(bitPattern: raw) }
}
