// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

@Suite struct `What is known of a user's biometry` {
    struct Row: CustomTestStringConvertible {
        let testDescription: String
        var readers: [ReaderDescription] = [.sample(1)]
        var prints: [PrintID]? = [.sample]
        var lockout = LockoutStanding.open(attemptsLeft: 5)
        var lid = LidState.open
        var isAsleep = false
        var outOfOrder: Set<ReaderID> = []
        var lost: [ReaderID: Set<PrintID>] = [:]
        let expected: Result<[ReaderDescription], EvaluationError>
    }

    private static let closed = LidState(isClosed: true, isDocked: false)
    private static let docked = LidState(isClosed: true, isDocked: true)
    private static let locked = LockoutStanding.locked(for: nil)

    static let rows = [
        Row(testDescription: "all is well", expected: .success([.sample(1)])),
        Row(
            testDescription: "no reader, no print", readers: [], prints: [],
            expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "no reader for the print", readers: [],
            expected: .failure(.biometryDisconnected)),
        Row(
            testDescription: "no print", prints: [], expected: .failure(.biometryNotEnrolled)),
        Row(
            testDescription: "a print for another reader", readers: [.sample(1, device: "2")],
            expected: .failure(.biometryNotEnrolled)),
        Row(
            testDescription: "prints that could not be looked up", prints: nil,
            expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "prints that could not be looked up, and no reader", readers: [],
            prints: nil, expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "locked", lockout: locked, expected: .failure(.biometryLockout)),
        Row(
            testDescription: "locked for a time", lockout: .locked(for: .seconds(3)),
            expected: .failure(.biometryLockout)),
        Row(
            testDescription: "locked, without prints", prints: [], lockout: locked,
            expected: .failure(.biometryNotEnrolled)),
        Row(
            testDescription: "hot", readers: [.sample(1, temperature: .hot)],
            expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "warm", readers: [.sample(1, temperature: .warm)],
            expected: .success([.sample(1, temperature: .warm)])),
        Row(
            testDescription: "one of two hot",
            readers: [.sample(1, temperature: .hot), .sample(2)],
            expected: .success([.sample(2)])),
        Row(
            testDescription: "hot and locked", readers: [.sample(1, temperature: .hot)],
            lockout: locked, expected: .failure(.biometryLockout)),
        Row(
            testDescription: "asleep", isAsleep: true, expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "asleep, without prints", prints: [], isAsleep: true,
            expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "out of order", outOfOrder: [ReaderID(1)],
            expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "one of two out of order", readers: [.sample(1), .sample(2)],
            outOfOrder: [ReaderID(1)], expected: .success([.sample(2)])),
        Row(
            testDescription: "built in, under the lid", readers: [.sample(1, .builtIn)],
            lid: closed, expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "built in, under the lid of a docked machine",
            readers: [.sample(1, .builtIn)], lid: docked,
            expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "plugged in, beside a closed machine",
            readers: [.sample(1, .external)], lid: closed,
            expected: .success([.sample(1, .external)])),
        Row(
            testDescription: "somewhere, and closed", lid: closed,
            expected: .failure(.biometryNotAvailable)),
        Row(
            testDescription: "somewhere, and docked", lid: docked,
            expected: .success([.sample(1)])),
        Row(
            testDescription: "one of two under the lid",
            readers: [.sample(1, .builtIn), .sample(2, .external)], lid: closed,
            expected: .success([.sample(2, .external)])),
        Row(
            testDescription: "under the lid, without prints", prints: [], lid: closed,
            expected: .failure(.biometryNotEnrolled)),
        Row(
            testDescription: "one of two with prints",
            readers: [.sample(1, device: "2"), .sample(2)], expected: .success([.sample(2)])),
        Row(
            testDescription: "lost by the reader's memory", lost: [ReaderID(1): [.sample]],
            expected: .failure(.printsNotOnReader)),
        Row(
            testDescription: "lost, and locked", lockout: locked, lost: [ReaderID(1): [.sample]],
            expected: .failure(.printsNotOnReader)),
        Row(
            testDescription: "lost by one of two", readers: [.sample(1), .sample(2)],
            lost: [ReaderID(1): [.sample]], expected: .success([.sample(2)])),
        Row(
            testDescription: "one of two prints lost", prints: [.sample, thumb],
            lost: [ReaderID(1): [thumb]], expected: .success([.sample(1)])),
        Row(
            testDescription: "lost by another reader, and by one that is gone",
            lost: [ReaderID(2): [.sample], ReaderID(3): [.sample]],
            expected: .success([.sample(1)])),
    ]

    private static let thumb = PrintID(user: .alice, reader: .sample("1"), finger: .leftThumb)

    @Test(arguments: rows) func `says on which readers a finger can be asked for`(row: Row) {
        var facts = BiometryFacts(
            readers: row.readers, prints: row.prints, lockout: row.lockout)
        facts.lid = row.lid
        facts.isAsleep = row.isAsleep
        facts.outOfOrder = row.outOfOrder
        facts.lost = row.lost
        #expect(facts.biometry() == row.expected)
        #expect(readers(facts, .finger, .taken) == row.expected)
        // Where no finger can serve the password is asked for, and its obstacle is what is missing.
        let isAsleep = row.isAsleep
        #expect(
            readers(facts, .fingerOrPassword, .refused(.passcodeNotSet))
                == row.expected.mapError { _ in isAsleep ? .notInteractive : .passcodeNotSet })
        #expect(
            readers(facts, .fingerOrPassword, .taken)
                == (isAsleep
                    ? .failure(.notInteractive) : row.expected.flatMapError { _ in .success([]) }))
        // Where it is all that counts, no reader matters.
        #expect(
            readers(facts, .password, .taken)
                == (isAsleep ? .failure(.notInteractive) : .success([])))
        #expect(
            readers(facts, .password, .refused(.passcodeNotSet))
                == .failure(isAsleep ? .notInteractive : .passcodeNotSet))
    }

    private func readers(
        _ facts: BiometryFacts, _ requirement: Requirement, _ password: PasswordOffer
    ) -> Result<[ReaderDescription], EvaluationError> {
        facts.readers(for: requirement, password: password)
    }
}
