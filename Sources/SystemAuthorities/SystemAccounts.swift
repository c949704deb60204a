// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LocalAuthModel
package import SystemSupport

/// The accounts as the name service (NSS) knows them. Look-ups can take long where accounts are
/// in a directory, so they have a thread of their own.
package actor SystemAccounts: AccountLookup {
    private let executor: PollExecutor

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    package init(executor: PollExecutor) { self.executor = executor }

    package func account(id: UserID) async -> Account? {
        unsafe Self.lookUp { entry, buffer, size, result in
            unsafe getpwuid_r(id.rawValue, entry, buffer, size, result)
        }
    }

    package func account(name: UserName) async -> Account? {
        let found = unsafe Self.lookUp { entry, buffer, size, result in
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
    private static func lookUp(_ query: Query) -> Account? {
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
