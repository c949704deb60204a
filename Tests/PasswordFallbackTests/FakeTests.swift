// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import Testing

/// The fake that other tests rely on keeps to what the port promises.
@Suite(.timeLimit(.minutes(1))) struct `The fake for passwords` {
    private let account: Account

    init() throws {
        startBusQueue()
        account = Account(id: try #require(UserID(1)), name: try #require(UserName("alice")))
    }

    private func check(
        _ fake: FakePasswords, _ text: String, _ person: Person = Person()
    ) -> Task<PasswordVerdict, Never> {
        let entry = TypedEntry(text)
        return BusQueue.task { await fake.verify(entry, of: account, with: person) }
    }

    @Test func `gives verdicts in order, and notes what was typed`() async {
        let fake = FakePasswords()
        await BusQueue.task { fake.verdicts = [.wrong, .correct] }.value
        #expect(await check(fake, "one").value == .wrong)
        #expect(await check(fake, "two").value == .correct)
        #expect(await check(fake, "").value == .correct)
        #expect(await fake.entries.entries == ["one", "two", ""])
        #expect(await fake.checks.entries == [account, account, account])
    }

    @Test func `tells and asks`() async {
        let fake = FakePasswords()
        let person = Person()
        let texts = [
            PasswordText(.information, "Hallo"), PasswordText(.question(isEchoed: true), "Code"),
        ]
        await BusQueue.task { fake.texts = texts }.value
        await person.willAnswer("123", nil)
        #expect(await check(fake, "one", person).value == .correct)
        #expect(await check(fake, "two", person).value == .unavailable)
        #expect(await fake.entries.entries == ["one", "123", "two", nil])
        #expect(await person.texts.entries == texts + texts)
    }

    @Test func `is held until it is told, or the check is cancelled`() async {
        let fake = FakePasswords()
        await BusQueue.task { fake.isHeld = true }.value
        let first = check(fake, "one")
        let second = check(fake, "two")
        await fake.entries.reaches(2)
        second.cancel()
        #expect(await second.value == .unavailable)
        #expect(await fake.cancelled.entries == [account])
        await BusQueue.task { fake.answer(.triesUsedUp) }.value
        #expect(await first.value == .triesUsedUp)
    }
}
