// SPDX-License-Identifier: Apache-2.0

/// What suffices to authenticate the user.
///
/// The values are Apple's (`LAPolicy` in `LAContext.h`). The first two are the service's own
/// policies; nothing on Linux can be a companion yet, so that the others always end with
/// `LAError.Code.companionNotAvailable`.
public enum LAPolicy: Int, Sendable {
    /// A finger, and nothing else. The fallback button of the prompt ends the evaluation with
    /// `LAError.Code.userFallback`.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// A finger or the account's password. Where no finger can be used, the password is asked for
    /// at once; the fallback button goes on with the password inside the same evaluation.
    case deviceOwnerAuthentication = 2
    /// A paired device nearby. Not available on Linux.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// A finger or a paired device nearby. Not available on Linux.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
    /// A device on the user's wrist. Not available on Linux.
    case deviceOwnerAuthenticationWithWristDetection = 5

    /// The older name of `deviceOwnerAuthenticationWithCompanion`.
    @available(*, deprecated, renamed: "deviceOwnerAuthenticationWithCompanion")
    public static var deviceOwnerAuthenticationWithWatch: LAPolicy {
        .deviceOwnerAuthenticationWithCompanion
    }

    /// The older name of `deviceOwnerAuthenticationWithBiometricsOrCompanion`.
    @available(*, deprecated, renamed: "deviceOwnerAuthenticationWithBiometricsOrCompanion")
    public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
        .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }

    /// Whether the service knows it.
    var isServed: Bool {
        self == .deviceOwnerAuthenticationWithBiometrics || self == .deviceOwnerAuthentication
    }
}
