// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import Foundation

/// Waits until somebody has a name on a bus.
///
/// - Throws: `Child.Ended` when the program that is to take it ends first.
@BusQueue package func waitForOwner(
    of name: BusName, on bus: PrivateBus, by program: Child
) async throws {
    let events = Happenings<Bool>()
    let service = RemoteService(name, on: try BusConnection(address: bus.address))
    service.onOwnerChange = { owner in if owner != nil { events.note(true) } }
    await service.findOwner()
    if service.owner == nil {
        let watcher = Task { @BusQueue in
            await program.wait()
            events.note(false)
        }
        defer { watcher.cancel() }
        guard await events.next() == true else {
            throw Child.Ended(awaited: name.rawValue, log: program.logText)
        }
    }
    service.connection.close()
}

/// Does work that blocks, such as talking to a virtual reader's socket, on a thread of its own:
/// the pool's are few.
package func blocking<T: Sendable>(
    _ work: @escaping @Sendable () throws -> T
) async throws -> T {
    try await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: Result { try work() }) }.start()
    }.get()
}
