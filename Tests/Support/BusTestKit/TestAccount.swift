// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// An account of the machine, made for one test and gone after it. Only root can make one.
package final class TestAccount: Sendable {
    package static let isPossible = getuid() == 0

    package let name = "la-test-" + String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
    package static let password = "korrektes Pferd 4711"

    /// One at a time: the tools lock the files and give up soon.
    package static func make() async throws -> TestAccount {
        let account = TestAccount()
        try await account.change("useradd -M -N -s /usr/sbin/nologin \(account.name)")
        try await account.setPassword()
        return account
    }

    package func setPassword() async throws {
        try await change("echo '\(name):\(Self.password)' | chpasswd -c SHA512 -s 1000")
    }

    /// Runs a command that changes it.
    package func change(_ command: String) async throws {
        let result = try await run("/bin/sh", ["-c", command])
        guard result.status == 0 else {
            throw Child.Ended(awaited: command, log: result.errors)
        }
    }

    /// Does something with an account of its own.
    package static func with(_ body: (TestAccount) async throws -> Void) async throws {
        let account = try await make()
        let result: Result<Void, any Error>
        do { result = .success(try await body(account)) } catch { result = .failure(error) }
        try await account.change("userdel \(account.name)")
        try result.get()
    }
}
