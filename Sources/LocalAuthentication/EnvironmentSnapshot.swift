// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

/// What the service knows of the user at one moment. What it does not say is taken for the state
/// in which nothing is possible.
struct EnvironmentSnapshot: Sendable, Hashable {
    var biometryType: LABiometryType = .none
    var isUsable = false
    var isEnrolled = false
    var isLockedOut = false
    var isSensorInaccessible = false
    var attemptsLeft = 0
    var lockoutSecondsLeft = 0
    var isPasswordSet = false
    var isAgentPresent = false
    var domainState: Data?

    /// Nothing is there: without the service.
    static let nothing = EnvironmentSnapshot()

    private init() {}

    init(_ values: [String: BusValue]) {
        let values = BusDictionary<EnvironmentKey>(values)
        // Whatever else there may be one day is not known to be Touch ID's like.
        biometryType = values.uint32(.biometryType) == 1 ? .touchID : .none
        isUsable = values.bool(.biometryUsable) ?? false
        isEnrolled = values.bool(.biometryEnrolled) ?? false
        isLockedOut = values.bool(.biometryLockedOut) ?? false
        isSensorInaccessible = values.bool(.sensorInaccessible) ?? false
        attemptsLeft = Int(values.uint32(.attemptsLeft) ?? 0)
        lockoutSecondsLeft = Int(values.uint32(.lockoutSecondsLeft) ?? 0)
        isPasswordSet = values.bool(.passwordSet) ?? false
        isAgentPresent = values.bool(.agentPresent) ?? false
        domainState = values.data(.domainState)
    }

    /// The state of the enrolled fingers; none without any.
    var enrolmentHash: Data? { isEnrolled ? domainState : nil }
}
