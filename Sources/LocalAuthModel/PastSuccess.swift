// SPDX-License-Identifier: Apache-2.0

/// A success of a connection, which may be accepted once more instead of asking the user again.
package struct PastSuccess: Hashable, Sendable {
    package let account: Account
    /// `biometrics` or `password`: what was reused is no success of its own.
    package let method: AuthenticationMethod
    package let at: BootTime

    package init(of account: Account, by method: AuthenticationMethod, at: BootTime) {
        self.account = account
        self.method = method
        self.at = at
    }

    /// Whether it is good enough for another evaluation of the same connection, which accepts
    /// what is at most so old.
    package func counts(
        for account: Account, under policy: Policy, within duration: Duration, at now: BootTime
    ) -> Bool {
        guard duration > .zero, account == self.account, at <= now, now.since(at) <= duration else {
            return false
        }
        return switch (policy, method) {
        case (.deviceOwnerAuthenticationWithBiometrics, .biometrics),
            (.deviceOwnerAuthentication, .biometrics), (.deviceOwnerAuthentication, .password):
            true
        case (.deviceOwnerAuthenticationWithBiometrics, .password), (_, .reused): false
        }
    }
}
