// SPDX-License-Identifier: Apache-2.0

package import LocalAuthModel

/// For machines without logind: nothing tells of a lid or of sleep.
package struct NoMachine: MachineWatching {
    package init() {}
    package func start(
        lid: @escaping @Sendable (LidState) -> Void,
        sleep: @escaping @Sendable () async -> Void, wake: @escaping @Sendable () async -> Void
    ) async {}
}
