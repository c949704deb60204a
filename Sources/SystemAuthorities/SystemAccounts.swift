// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import Glibc
package import LocalAuthModel

/// The accounts as the name service (NSS) knows them.
///
/// Where accounts are in a directory, one look-up can take half a minute and holds its thread as
/// long, so that look-ups run side by side; one without an answer in five seconds counts as no
/// account: nobody could find out.
@BusQueue package final class SystemAccounts: AccountLookup {
    private let byID: SharedLookup<UserID, Account>
    private let byName: SharedLookup<UserName, Account>

    package nonisolated init(threads: LookupThreads) {
        let deadline = Duration.seconds(5)
        byID = SharedLookup(on: threads, deadline: deadline) { Self.find($0) }
        byName = SharedLookup(on: threads, deadline: deadline) { Self.find($0) }
    }

    @BusQueue package func account(id: UserID) async -> Account? { await byID.ask(id) }
    @BusQueue package func account(name: UserName) async -> Account? { await byName.ask(name) }

    private nonisolated static func find(_ id: UserID) -> Account? {
        unsafe lookUp { entry, buffer, size, result in
            unsafe getpwuid_r(id.rawValue, entry, buffer, size, result)
        }
    }

    private nonisolated static func find(_ name: UserName) -> Account? {
        let found = unsafe lookUp { entry, buffer, size, result in
            unsafe getpwnam_r(name.rawValue, entry, buffer, size, result)
        }
        // Some sources ignore case; prints are filed under the exact name.
        return found?.name == name ? found : nil
    }

    private typealias Query = (
        UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32

    /// Asks with a growing buffer. Whatever goes wrong is no account.
    private nonisolated static func lookUp(_ query: Query) -> Account? {
        var size = 1024
        while size <= 1 << 20 {
            // SAFETY: the entry points into the buffer, and what is needed is copied before the
            // buffer goes.
            let (code, account) = unsafe withUnsafeTemporaryAllocation(
                of: CChar.self, capacity: size
            ) { buffer -> (Int32, Account?) in
                guard let start = buffer.baseAddress else { return (EINVAL, nil) }
                var entry = unsafe passwd()
                var result: UnsafeMutablePointer<passwd>?
                let code = unsafe query(&entry, start, size, &result)
                guard code == 0, unsafe result != nil, let id = UserID(unsafe entry.pw_uid),
                    let text = unsafe entry.pw_name,
                    let name = UserName(unsafe String(cString: text))
                else { return (code, nil) }
                return (code, Account(id: id, name: name))
            }
            guard code == ERANGE else { return account }
            size *= 4
        }
        return nil
    }
}
