// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthModel
import PrintStorage
import SystemSupport
import TestKit
import Testing

private func account(_ id: UInt32, _ name: String) -> Account {
    guard let id = UserID(id) else { preconditionFailure("not an id: \(id)") }
    return Account(id: id, name: StoreFixture.user(name))
}

@Suite struct `A store of generations` {
    let fixture: StoreFixture
    var store: GenerationStore { fixture.generations }
    var state: String { fixture.scratch + "/state" }
    var file: String { state + "/generation/1000-alice" }
    let alice = account(1_000, "alice")
    let sample = Generation(
        nonce: (0..<16).map { $0 * 16 }, digest: [UInt8](repeating: 0xa5, count: 32))

    init() throws { fixture = try StoreFixture() }

    /// What a store that was just opened reads.
    private func reading(of account: Account) async throws -> GenerationReading {
        try await GenerationStore(
            directory: state, executor: fixture.executor, log: Log(topic: "generation")
        ).read(for: account)
    }

    @Test func `has none at first, and makes nothing by being asked`() async throws {
        #expect(try await store.read(for: alice) == .none)
        #expect(fixture.names(in: fixture.scratch).contains("state") == false)
    }

    @Test func `gives back what was written, whole and private`() async throws {
        try await store.write(sample, for: alice)
        #expect(try await reading(of: alice) == .generation(sample))
        #expect(try fixture.mode(file) == 0o600)
        #expect(try fixture.mode(state + "/generation") == 0o700)
        let other = Generation(nonce: sample.digest.suffix(16), digest: sample.digest)
        try await store.write(other, for: alice)
        #expect(try await reading(of: alice) == .generation(other))
        #expect(fixture.names(in: state + "/generation") == ["1000-alice"])
    }

    @Test func `keeps accounts apart, by id and by name`() async throws {
        try await store.write(sample, for: alice)
        #expect(try await reading(of: account(1_001, "alice")) == .none)
        #expect(try await reading(of: account(1_000, "bob")) == .none)
    }

    @Test(arguments: [
        "", "x", "[Generation]", "\u{0}", "[Generation]\nUser=alice\nUid=1000\n",
        "[Generation]\nUser=alice\nUid=1000\nNonce=00\nPrints=00\n",
        "[Generation]\nUser=alice\nUid=1000\nNonce=\(String(repeating: "0", count: 31))g\n"
            + "Prints=\(String(repeating: "0", count: 64))\n",
        "[Generation]\nUser=alice\nUid=1000\nNonce=\(String(repeating: "A", count: 32))\n"
            + "Prints=\(String(repeating: "0", count: 64))\n",
        "[Generation]\nUser=bob\nUid=1000\nNonce=\(String(repeating: "0", count: 32))\n"
            + "Prints=\(String(repeating: "0", count: 64))\n",
        "[Generation]\nUser=alice\nUid=1001\nNonce=\(String(repeating: "0", count: 32))\n"
            + "Prints=\(String(repeating: "0", count: 64))\n",
        String(repeating: "#", count: 5_000),
    ]) func `takes what is damaged or another's for unreadable`(text: String) async throws {
        try fixture.plant(Array(text.utf8), at: file, mode: 0o600)
        #expect(try await reading(of: alice) == .unreadable)
        // And can put a good one in its place.
        try await store.write(sample, for: alice)
        #expect(try await reading(of: alice) == .generation(sample))
    }

    @Test(arguments: [
        "ln -s ../../7 FILE", "mkdir FILE", "mkfifo FILE", "cp 7 FILE; chmod 666 FILE",
    ])
    func `touches nothing that is no file of root's`(command: String) async throws {
        try fixture.plant([], at: fixture.scratch + "/7")
        try fixture.makeDirectory(state + "/generation")
        try fixture.shell(
            command.replacingOccurrences(of: "FILE", with: "state/generation/1000-alice"))
        #expect(try await reading(of: alice) == .unreadable)
    }

    @Test func `says when a record cannot be written`() async throws {
        try fixture.plant([], at: state + "/generation")
        await #expect(throws: StorageFailure.self) { try await store.write(sample, for: alice) }
    }

    @Test func `makes the secret once`() async throws {
        let secret = try await store.secret()
        #expect(secret.count == 32)
        #expect(Set(secret).count > 8)
        #expect(try fixture.mode(state + "/secret") == 0o600)
        #expect(try await store.secret() == secret)
        let kept = try Data(contentsOf: URL(filePath: state + "/secret"))
        #expect([UInt8](kept) == secret)
        let next = GenerationStore(
            directory: state, executor: fixture.executor, log: Log(topic: "generation"))
        #expect(try await next.secret() == secret)
    }

    @Test(arguments: [
        "printf 1234567890123456789012345678901 >FILE", "printf '%33s' x >FILE", ": >FILE",
        "ln -s /etc/hostname FILE", "mkdir FILE", "mkfifo FILE",
        "printf '%32s' x >FILE; chmod 640 FILE", "printf '%32s' x >FILE; chmod 622 FILE",
    ]) func `sets a secret aside that will not do`(command: String) async throws {
        try fixture.makeDirectory(state)
        try fixture.shell(command.replacingOccurrences(of: "FILE", with: "state/secret"))
        let secret = try await store.secret()
        #expect(secret.count == 32)
        #expect(fixture.names(in: state) == ["damaged-secret", "secret"])
        #expect([UInt8](try Data(contentsOf: URL(filePath: state + "/secret"))) == secret)
    }

    @Test func `has a secret for its own life where none can be kept`() async throws {
        try fixture.plant([], at: state)
        let secret = try await store.secret()
        #expect(secret.count == 32)
        #expect(try await store.secret() == secret)
    }
}
