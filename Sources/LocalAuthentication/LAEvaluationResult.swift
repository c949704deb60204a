// SPDX-License-Identifier: Apache-2.0

internal import SystemSupport

/// How the user was authenticated. Only on Linux.
public enum LAAuthenticationMethod: Sendable, Hashable {
    /// By a finger.
    case biometrics
    /// By the account's password.
    case password
    /// Not anew: by an earlier success of this program, within
    /// ``LAContext/touchIDAuthenticationAllowableReuseDuration``.
    case reused
    /// In a way that this version of the module does not know.
    case other

    init(wire: String?) {
        self =
            switch wire {
            case "biometrics": .biometrics
            case "password": .password
            case "reused": .reused
            default: .other
            }
    }
}

/// What ``LAContext/evaluate(_:localizedReason:options:onEvent:)`` gives on success. Only on Linux.
///
/// It never says which finger it was.
public struct LAEvaluationResult: Sendable, Hashable {
    /// The policy that was evaluated.
    public let policy: LAPolicy
    /// How the user was authenticated.
    public let method: LAAuthenticationMethod
    /// How long after the machine's start that was, as `CLOCK_BOOTTIME` counts; for a reused
    /// success, when it was made.
    public let timeSinceBoot: Duration
    /// The state of the enrolled fingers, 32 bytes; see ``LADomainState``.
    public let domainState: Data?
    /// 32 bytes with which another process can check the success, if there was a challenge; see
    /// ``LAContext/redeem(_:challenge:)``.
    public let ticket: Data?

    /// How long ago the user was authenticated.
    public var age: Duration {
        max(.zero, .microseconds(Int64(clamping: BootClock.microseconds())) - timeSinceBoot)
    }

    init(_ success: Success) {
        policy = success.policy
        method = success.method
        timeSinceBoot = .microseconds(Int64(clamping: success.authenticatedAt))
        domainState = success.domainState
        ticket = success.ticket
    }
}
