// SPDX-License-Identifier: Apache-2.0

/// What suffices. The raw values are those of Apple's `LAPolicy`.
package enum Policy: UInt32, CaseIterable, Hashable, Sendable {
    /// A finger, nothing else.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// A finger or the account's password.
    case deviceOwnerAuthentication = 2
}
