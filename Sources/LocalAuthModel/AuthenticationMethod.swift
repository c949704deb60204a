// SPDX-License-Identifier: Apache-2.0

/// How the user was authenticated. The raw values are those of the bus and of the histories.
package enum AuthenticationMethod: String, CaseIterable, Hashable, Sendable {
    case biometrics
    case password
    /// By an earlier success of the same caller, which was accepted once more.
    case reused
}
