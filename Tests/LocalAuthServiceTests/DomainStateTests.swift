// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import Testing

@testable import LocalAuthService

private let reader = ReaderID(1)
private let match = ScanVerdict.matched(StoredPrint.sample.id)
private let another = StoredPrint(id: .sample(.leftThumb), template: [2])

extension TestClient {
    /// The caller's domain state; `nil` when it is not told.
    func domainState() async throws -> [UInt8]? {
        guard case .bytes(let state)? = try await environment()["domain-state"] else { return nil }
        return state
    }

    func evaluate(requiring state: [UInt8]) async throws -> [String: BusValue] {
        try await evaluate(["required-domain-state": .bytes(state)])
    }
}

extension ServiceFixture {
    /// Another program changes the prints of the user.
    func change(_ change: () -> Void) {
        change()
        prints.announceChange(of: Account.alice.name)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A domain state` {
    @Test func `stays, and is another after each change, also one that is undone`() async throws {
        try await withService { fixture, client in
            var seen: [[UInt8]] = [try #require(try await client.domainState())]
            #expect(seen[0].count == 32)
            #expect(try await client.domainState() == seen[0])
            let changes: [() -> Void] = [
                { fixture.prints.prints.append(another) },
                { fixture.prints.prints.removeAll { $0 == another } },
                { fixture.prints.prints = [StoredPrint(id: StoredPrint.sample.id, template: [3])] },
                { fixture.prints.unseen += 1 },
                { fixture.prints.prints = [] },
                { fixture.prints.prints = [.sample] },
            ]
            for change in changes {
                client.forgetHeard()
                fixture.change(change)
                await client.next { $0 == .environmentChanged }
                let state = try #require(try await client.domainState())
                #expect(!seen.contains(state))
                seen.append(state)
            }
            fixture.change { fixture.prints.prints.reverse() }
            fixture.prints.announceChange(of: nil)
            #expect(try await client.domainState() == seen.last)
        }
    }

    @Test func `is another for other users, programs, machines and numbers`() async throws {
        try await withService { fixture, client in
            var seen: Set<[UInt8]> = []
            func see() async throws {
                let client = try await fixture.connect()
                #expect(seen.insert(try #require(try await client.domainState())).inserted)
            }
            try await see()
            for evidence in CallerProgram.Evidence.allCases {
                for name in ["/usr/bin/a", "/usr/bin/b"] {
                    fixture.programs.program = CallerProgram(name: name, evidence: evidence)
                    try await see()
                }
            }
            // The same prints, name or number.
            fixture.accounts.everybody = Account(
                id: valid(UserID(1_002)), name: Account.alice.name)
            try await see()
            fixture.accounts.everybody = .bob
            try await see()
        }
    }

    @Test func `is there with nothing enrolled, and then nothing is written`() async throws {
        try await withService { fixture, client in
            fixture.prints.prints = []
            let state = try #require(try await client.domainState())
            #expect(state.count == 32)
            #expect(fixture.generations.writes.entries == [])
            fixture.change { fixture.prints.prints = [.sample] }
            #expect(try await client.domainState() != state)
            fixture.change { fixture.prints.prints = [] }
            #expect(try await client.domainState() != state)
        }
    }

    @Test func `is there when biometry is locked`() async throws {
        try await withService { fixture, client in
            let state = try await client.domainState()
            fixture.lockouts.readings[.alice] = .unreadable
            let other = try await fixture.connect()
            #expect(try await other.domainState() == state)
            #expect(state?.count == 32)
        }
    }

    @Test func `is written down before it is told`() async throws {
        try await withService { fixture, client in
            fixture.generations.isSlow = true
            async let state = client.domainState()
            await fixture.generations.writes.reaches(1)
            // Everything else goes on.
            #expect(try await client.can().canEvaluate)
            let before = fixture.generations.readings[.alice]
            #expect(before == nil)
            fixture.generations.finishWrite()
            let told = try await state
            #expect(told?.count == 32)
            #expect(fixture.generations.readings[.alice] != nil)
        }
    }

    @Test func `is of the generation that was written before`() async throws {
        let listing = try await FakePrints([.sample]).list(of: Account.alice.name)
        let kept = Generation(nonce: [UInt8](repeating: 5, count: 16), digest: listing.digest)
        try await withService { fixture, client in
            fixture.generations.readings[.alice] = .generation(kept)
            let state = try await client.domainState()
            #expect(state != nil)
            #expect(fixture.generations.writes.entries == [])
            fixture.change { fixture.prints.prints.append(another) }
            #expect(try await client.domainState() != state)
            #expect(fixture.generations.writes.entries.count == 1)
        }
    }

    /// A finger that came and went while nobody asked for the state.
    @Test func `is another also where the change was undone before it was asked for`() async throws
    {
        let listing = try await FakePrints([.sample]).list(of: Account.alice.name)
        let kept = Generation(nonce: [UInt8](repeating: 5, count: 16), digest: listing.digest)
        try await withService { fixture, client in
            fixture.generations.readings[.alice] = .generation(kept)
            let isFine = try await client.can().canEvaluate
            #expect(isFine)
            fixture.change { fixture.prints.unseen += 1 }
            // Written down although nobody asks: we may end before anybody does.
            await fixture.generations.writes.reaches(1)
            #expect(fixture.generations.writes.entries[0].nonce != kept.nonce)
        }
    }

    @Test func `begins anew where the record cannot be read`() async throws {
        try await withService { fixture, client in
            fixture.prints.prints = []
            fixture.generations.readings[.alice] = .unreadable
            let state = try await client.domainState()
            let written = fixture.generations.writes.entries
            #expect(written.count == 1)
            #expect(written.first?.nonce.contains { $0 != 0 } == true)
            #expect(try await client.domainState() == state)
            #expect(fixture.generations.writes.entries.count == 1)
        }
    }

    @Test func `holds also where it cannot be written, until it can`() async throws {
        try await withService { fixture, client in
            fixture.generations.writeFailure = .io(28)
            let state = try #require(try await client.domainState())
            #expect(try await client.domainState() == state)
            fixture.generations.writeFailure = nil
            #expect(try await client.domainState() == state)
            #expect(fixture.generations.readings[.alice] != nil)
            let writes = fixture.generations.writes.entries.count
            #expect(try await client.domainState() == state)
            #expect(fixture.generations.writes.entries.count == writes)
        }
    }

    @Test(arguments: ["prints", "record", "secret"])
    func `is left out where it cannot be found out, which is no change`(what: String) async throws {
        try await withService { fixture, client in
            switch what {
            case "prints": fixture.prints.failure = .io(5)
            case "record": fixture.generations.readFailure = .io(24)
            default: fixture.generations.secretFailure = .io(5)
            }
            let unknown = try await client.domainState()
            #expect(unknown == nil)
            let required = [UInt8](repeating: 0, count: 32)
            #expect(
                await ending { try await client.evaluate(requiring: required) }
                    == "BiometryNotAvailable")
            fixture.prints.failure = nil
            fixture.generations.readFailure = nil
            fixture.generations.secretFailure = nil
            let known = try await client.domainState()
            #expect(known != nil)
        }
    }

    @Test func `that is required lets the evaluation pass`() async throws {
        try await withService { fixture, client in
            let state = try #require(try await client.domainState())
            async let result = client.evaluate(requiring: state)
            await fixture.readers.calls.has("scan 1")
            fixture.readers.touch(reader, match)
            let told = try await result["domain-state"]
            #expect(told == .bytes(state))
        }
    }

    @Test func `that is not the required one ends it before anybody is asked`() async throws {
        try await withService { fixture, client in
            let state = try #require(try await client.domainState())
            let wrongs: [[UInt8]] = [
                [], [1], state + [0], Array(state.dropLast()), state.reversed(),
            ]
            for wrong in wrongs {
                #expect(
                    await ending { try await client.evaluate(requiring: wrong) }
                        == "DomainStateChanged")
            }
            #expect(fixture.readers.calls.entries == [])
            // Whoever may not ask at all is not told.
            fixture.authority.decision = .denied
            let other = try await fixture.connect()
            #expect(
                await ending { try await other.evaluate(requiring: [1]) } == "NotAuthorized")
        }
    }

    @Test func `that changes midway ends it at the match, and forgets no miss`() async throws {
        try await withService { fixture, client in
            fixture.lockouts.readings[.alice] = .record(
                LockoutRecord(misses: 2, total: 2, locked: nil))
            let state = try #require(try await client.domainState())
            async let failure = ending { try await client.evaluate(requiring: state) }
            await fixture.readers.calls.has("scan 1")
            // Not even announced.
            fixture.prints.prints.append(another)
            fixture.readers.touch(reader, match)
            #expect(await failure == "DomainStateChanged")
            #expect(fixture.lockouts.writes.entries == [])
        }
    }
}
