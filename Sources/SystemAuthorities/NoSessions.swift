// SPDX-License-Identifier: Apache-2.0

package import LocalAuthModel

/// For machines without logind: every local caller counts as present.
package struct NoSessions: SessionWatching {
    package init() {}
    package func start(changed: @escaping @Sendable () -> Void) async {}
    package func presence(of caller: Caller) async -> Presence { .present }
}
