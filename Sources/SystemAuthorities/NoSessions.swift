// SPDX-License-Identifier: Apache-2.0

package import LocalAuthModel

/// For machines without logind: every local caller counts as present, and each
/// user has one session.
package struct NoSessions: SessionWatching {
    package init() {}
    package func start(changed: @escaping @Sendable () -> Void) async {}
    package func seating(of caller: Caller) async -> Seating {
        Seating(.present, in: SessionID(""))
    }
}
