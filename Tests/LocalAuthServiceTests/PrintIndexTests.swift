// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthModel
import Testing

@testable import LocalAuthService

@Suite(.timeLimit(.minutes(1))) struct `A print index` {
    @BusQueue private final class Fixture {
        let store: FakePrints
        let changes = Journal<Void>()
        let index: PrintIndex

        init() {
            store = FakePrints([.sample])
            index = PrintIndex(store: store, log: .silent)
            index.onChange = { [changes] _ in changes.add() }
        }

        var user: UserName { Account.alice.name }
    }

    private static func with(
        _ body: @escaping @Sendable @BusQueue (Fixture) async throws -> Void
    ) async throws {
        startBusQueue()
        try await body(await Fixture())
    }

    private static let another = StoredPrint(id: .sample(.leftThumb), template: [2])

    @Test func `answers from memory`() async throws {
        try await Self.with { fixture in
            for _ in 0..<3 {
                #expect(await fixture.index.prints(of: fixture.user) == [StoredPrint.sample.id])
            }
            #expect(await fixture.index.prints(of: Account.bob.name) == [])
            #expect(fixture.store.lists == 2)
        }
    }

    @Test func `takes a failure for no answer, and does not remember it`() async throws {
        try await Self.with { fixture in
            fixture.store.failure = .io(5)
            #expect(await fixture.index.prints(of: fixture.user) == nil)
            fixture.store.failure = nil
            #expect(await fixture.index.prints(of: fixture.user) == [StoredPrint.sample.id])
        }
    }

    @Test func `reads again when something changes while it reads`() async throws {
        try await Self.with { fixture in
            let (store, index, user) = (fixture.store, fixture.index, fixture.user)
            store.whileListing = {
                store.whileListing = nil
                store.prints.append(Self.another)
                index.noteChange(of: user)
            }
            #expect(await index.prints(of: user)?.count == 2)
        }
    }

    @Test func `does not read for ever`() async throws {
        try await Self.with { fixture in
            let (store, index, user) = (fixture.store, fixture.index, fixture.user)
            store.whileListing = { index.noteChange(of: nil) }
            #expect(await index.prints(of: user) == [StoredPrint.sample.id])
            store.whileListing = nil
        }
    }

    @Test(arguments: [true, false])
    func `tells of a real change only`(isNamed: Bool) async throws {
        try await Self.with { fixture in
            _ = await fixture.index.prints(of: fixture.user)
            let user = isNamed ? fixture.user : nil
            fixture.index.noteChange(of: user)
            fixture.index.noteChange(of: Account.bob.name)
            await fixture.index.refresh(fixture.user)
            #expect(fixture.changes.entries.isEmpty)
            fixture.store.prints.append(Self.another)
            fixture.index.noteChange(of: user)
            await fixture.changes.reaches(1)
            await fixture.index.refresh(fixture.user)
            #expect(fixture.changes.entries.count == 1)
            #expect(await fixture.index.prints(of: fixture.user)?.count == 2)
        }
    }

    @Test func `puts the finger used last first`() async throws {
        try await Self.with { _ in
            let memory = FingerMemory()
            let prints = [Finger.rightLittle, .rightIndex, .leftThumb].map {
                StoredPrint(id: .sample($0), template: [])
            }
            #expect(
                memory.sort(prints).map(\.id.finger) == [.leftThumb, .rightIndex, .rightLittle])
            memory.remember(.sample(.rightLittle))
            #expect(
                memory.sort(prints).map(\.id.finger) == [.rightLittle, .leftThumb, .rightIndex])
        }
    }
}
