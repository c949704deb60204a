// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import LocalAuthService

// Ports behind which there is just enough to serve.

/// One reader, which nobody can open.
private struct FakeReaders: ReaderDriving {
    func start(report: @escaping @Sendable (ReaderChange) -> Void) async {
        guard let kind = ReaderKind(driver: "fake", deviceID: "0") else { return }
        report(
            .added(
                ReaderDescription(
                    id: ReaderID(1), kind: kind, name: "Fake", scanType: .press,
                    enrolmentStages: 5, features: [.identify], temperature: .cold)))
    }
    func open(_ reader: ReaderID) async throws(ReaderFailure) -> any OpenReader { throw .removed }
    func suspend() async {}
    func resume() async {}
    func stop() async {}
}

private struct NoPrints: PrintStoring {
    func start(changed: @escaping @Sendable (UserName?) -> Void) async throws(StorageFailure) {}
    func list(of user: UserName) async throws(StorageFailure) -> PrintListing {
        PrintListing(prints: [], digest: [])
    }
    func load(
        of user: UserName, for readers: Set<ReaderKind>
    ) async throws(StorageFailure) -> [StoredPrint] { [] }
    func load(for reader: ReaderKind) async throws(StorageFailure) -> [StoredPrint] { [] }
    func save(_ print: StoredPrint) async throws(StorageFailure) {}
    func delete(_ print: PrintID) async throws(StorageFailure) { throw .notFound }
}

private struct NoGenerations: GenerationStoring {
    func read(for account: Account) async throws(StorageFailure) -> GenerationReading { .none }
    func write(
        _ generation: Generation, for account: Account
    ) async throws(StorageFailure) {}
    func secret() async throws(StorageFailure) -> [UInt8] { [1] }
}

private struct NoLockouts: LockoutStoring {
    func read(for account: Account) async -> LockoutReading { .none }
    func write(_ record: LockoutRecord, for account: Account) async throws(StorageFailure) {}
}

private struct NoHistory: HistoryStoring {
    func history(of account: Account) async -> [HistoryEntry] { [] }
    func add(_ entries: [HistoryEntry], for account: Account) async throws(StorageFailure) {}
}

private struct Sleepless: MachineWatching {
    func start(
        lid: @escaping @Sendable (LidState) -> Void,
        sleep: @escaping @Sendable () async -> Void, wake: @escaping @Sendable () async -> Void
    ) async {}
}

private struct Everywhere: SessionWatching {
    func start(changed: @escaping @Sendable () -> Void) async {}
    func seating(of caller: Caller) async -> Seating { Seating(.present) }
}

private struct Anybody: Authorizing {
    let asksForPassword = false
    func decide(_ action: Action, for caller: Caller, interactive: Bool) async -> Decision {
        .granted
    }
    func forget(_ connection: String) async {}
}

/// Every id has an account, `user<id>`.
private struct FakeAccounts: AccountLookup {
    func account(id: UserID) async -> Account? {
        UserName("user\(id.rawValue)").map { Account(id: id, name: $0) }
    }
    func account(name: UserName) async -> Account? { nil }
}

private struct NoPrograms: ProgramLookup {
    func program(of caller: Caller) async -> CallerProgram? { nil }
}

private struct NoPasswords: PasswordVerifying {
    func start(changed: @escaping @Sendable () -> Void) async {}
    func standing(of account: Account) async -> PasswordStanding {
        PasswordStanding(isSet: false, hasAccountExpired: false)
    }
    func verify(
        _ entry: any PasswordEntry, of account: Account, with person: any PasswordConversing
    ) async -> PasswordVerdict { .notSet }
}

extension ServicePorts {
    static let fake = ServicePorts(
        readers: FakeReaders(), prints: NoPrints(), generations: NoGenerations(),
        lockouts: NoLockouts(), history: NoHistory(), sessions: Everywhere(), machine: Sleepless(),
        authority: Anybody(), accounts: FakeAccounts(), programs: NoPrograms(),
        passwords: NoPasswords())
}
