// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import SystemSupport

/// What the service says of a success.
struct Success: Sendable {
    let policy: LAPolicy
    let method: LAAuthenticationMethod
    /// Microseconds of `CLOCK_BOOTTIME`.
    let authenticatedAt: UInt64
    let domainState: Data?
    let ticket: Data?

    /// The policies that are satisfied by it: a finger satisfies both, a password one.
    var covers: Set<LAPolicy> {
        let isFinger =
            method == .biometrics || policy == .deviceOwnerAuthenticationWithBiometrics
        return isFinger
            ? [.deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthentication]
            : [.deviceOwnerAuthentication]
    }

    /// - Parameters:
    ///   - reply: the result of `EvaluatePolicy`. That there is one is the success; what it does not
    ///     say is not known, and nothing in it turns it into a failure.
    ///   - policy: the policy that was evaluated.
    init(_ reply: [String: BusValue], of policy: LAPolicy) {
        let values = BusDictionary<EvaluationResultKey>(reply)
        self.policy = policy
        method = LAAuthenticationMethod(wire: values.string(.method))
        authenticatedAt = values.uint64(.authenticatedAt) ?? BootClock.microseconds()
        domainState = values.data(.domainState)
        ticket = values.data(.ticket)
    }
}

/// A dictionary from the bus, read by its known keys. A value of another type is not there.
struct BusDictionary<Key: RawRepresentable<String>> {
    private let values: [String: BusValue]

    init(_ values: [String: BusValue]) { self.values = values }

    func bool(_ key: Key) -> Bool? {
        if case .bool(let value)? = values[key.rawValue] { value } else { nil }
    }

    func uint32(_ key: Key) -> UInt32? {
        if case .uint32(let value)? = values[key.rawValue] { value } else { nil }
    }

    func uint64(_ key: Key) -> UInt64? {
        if case .uint64(let value)? = values[key.rawValue] { value } else { nil }
    }

    func string(_ key: Key) -> String? {
        if case .string(let value)? = values[key.rawValue] { value } else { nil }
    }

    func data(_ key: Key) -> Data? {
        if case .bytes(let value)? = values[key.rawValue] { Data(value) } else { nil }
    }
}
