// SPDX-License-Identifier: Apache-2.0

/// What suffices. The raw values are those of Apple's `LAPolicy`.
package enum Policy: UInt32, CaseIterable, Hashable, Sendable {
    /// A finger, nothing else.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// A finger or the account's password.
    case deviceOwnerAuthentication = 2
}

/// What an evaluation wants of the user.
package enum Requirement: CaseIterable, Hashable, Sendable {
    case finger
    case fingerOrPassword
    /// Nothing but the password: a finger never authorises another finger.
    case password

    package init(_ policy: Policy) {
        self =
            switch policy {
            case .deviceOwnerAuthenticationWithBiometrics: .finger
            case .deviceOwnerAuthentication: .fingerOrPassword
            }
    }
}
