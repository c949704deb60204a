// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import Testing

/// An account of the machine, made for one test and gone after it. Only root can make one.
final class TestAccount: Sendable {
    static let isPossible = getuid() == 0
    static let comment: Comment = "only root can make accounts"

    let name = "la-test-" + String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
    static let password = "korrektes Pferd 4711"

    /// One at a time: the tools lock the files and give up soon.
    static func make() async throws -> TestAccount {
        let account = TestAccount()
        try await account.change("useradd -M -N -s /usr/sbin/nologin \(account.name)")
        try await account.setPassword()
        return account
    }

    func setPassword() async throws {
        try await change("echo '\(name):\(Self.password)' | chpasswd -c SHA512 -s 1000")
    }

    /// Runs a command that changes it.
    func change(_ command: String) async throws {
        let result = try await run("/bin/sh", ["-c", command])
        try #require(result.status == 0, "\(command): \(result.errors)")
    }

    /// Does something with an account of its own.
    static func with(_ body: (TestAccount) async throws -> Void) async throws {
        let account = try await make()
        let result: Result<Void, any Error>
        do { result = .success(try await body(account)) } catch { result = .failure(error) }
        try await account.change("userdel \(account.name)")
        try result.get()
    }
}
