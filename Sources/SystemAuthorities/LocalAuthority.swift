// SPDX-License-Identifier: Apache-2.0

package import LocalAuthModel

/// For machines without polkit: each user for itself, root for everybody.
package struct LocalAuthority: Authorizing {
    package let asksForPassword = false

    package init() {}

    package func decide(
        _ action: Action, for caller: Caller, interactive: Bool
    ) async -> Decision {
        switch action {
        case .evaluate, .manage: .granted
        case .evaluateOthers, .manageOthers, .resetLockout:
            caller.account.id.isRoot ? .granted : .denied
        }
    }

    package func forget(_ connection: String) async {}
}
