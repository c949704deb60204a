// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

extension BusConnection {
    /// Whether what was found under the caller's process id was about the caller: the id may have
    /// come to mean another process.
    func isStillThere(_ caller: Caller) async -> Bool {
        if let handle = caller.process?.handle { return handle.isAlive }
        // Without a hold on the process, the bus's word has to do.
        guard let name = UniqueName(caller.connection) else { return false }
        return await isOnBus(name, deadline: .seconds(5))
    }
}
