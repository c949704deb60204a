// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import LocalAuthModel
import Synchronization

/// A process that ends when a test wants it to.
final class FakeProcess: ProcessHandle {
    /// How often it is still found alive; `nil` for ever.
    private let looksLeft: Mutex<Int?>

    init(looks: Int? = nil) { looksLeft = Mutex(looks) }

    func end() { looksLeft.withLock { $0 = 0 } }

    var isAlive: Bool {
        looksLeft.withLock { left in
            guard let count = left else { return true }
            left = max(0, count - 1)
            return count > 0
        }
    }
}

/// A caller behind a connection.
func caller(
    _ connection: UniqueName, user: UInt32 = 0, process: CallerProcess? = nil
) -> Caller {
    guard let id = UserID(user), let name = UserName("user\(user)") else {
        preconditionFailure("the test made an invalid user")
    }
    return Caller(
        connection: connection.rawValue, account: Account(id: id, name: name), process: process)
}
