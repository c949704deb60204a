// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

@Suite struct `Everything that can happen to an evaluation` {
    @Test(arguments: Policy.allCases, [UInt32(1), 2, 5])
    func `keeps the rules with one reader`(policy: Policy, attemptsLeft: UInt32) throws {
        let terms = EvaluationTerms(policy: policy, missesAllowed: 3, badScansAllowed: 3)
        let check = try ModelCheck(terms, readers: 1, attemptsLeft: attemptsLeft)
        print(
            "one reader, policy \(policy.rawValue), \(attemptsLeft) left:",
            "\(check.nodes.count) states, \(check.transitions) transitions")
        #expect(check.nodes.contains { $0.state == .finished })
    }

    @Test(arguments: [(UInt32(1), UInt32(2)), (2, 2), (5, 2), (5, 3)])
    func `keeps the rules with two readers`(attemptsLeft: UInt32, badScans: UInt32) throws {
        let terms = EvaluationTerms(
            policy: .deviceOwnerAuthenticationWithBiometrics, missesAllowed: 3,
            badScansAllowed: badScans)
        let check = try ModelCheck(terms, readers: 2, attemptsLeft: attemptsLeft)
        print(
            "two readers, \(attemptsLeft) left, \(badScans) bad scans:",
            "\(check.nodes.count) states, \(check.transitions) transitions")
        #expect(check.nodes.contains { $0.state == .finished })
    }

    @Test func `comes to every ending that policy 1 has, and to no other`() throws {
        let locking = try ModelCheck(.biometrics, readers: 1, attemptsLeft: 2)
        let failing = try ModelCheck(.biometrics, readers: 1, attemptsLeft: 5)
        #expect(
            locking.answers.union(failing.answers) == [
                nil, .authenticationFailed, .biometryLockout, .biometryNotAvailable,
                .biometryNotEnrolled, .limitsExceeded, .notAuthorized, .readerBusy,
                .systemCancel, .timeout,
            ])
    }

    @Test func `leaves no state without an answer to any event`() throws {
        let check = try ModelCheck(.biometrics, readers: 2, attemptsLeft: 5)
        let events = EvaluationEvent.samples
        for state in check.states {
            for event in events {
                let (next, effects) = step(state, event, check.terms)
                switch state {
                case .finished:
                    #expect(next == .finished)
                    #expect(effects == [])
                case .ending:
                    #expect(effects.allSatisfy { $0 == .leave || $0 == .charge })
                case .admitting, .queued, .preparing, .scanning, .charging, .confirming:
                    #expect(effects.answers.count <= 1)
                    #expect(effects.count(where: { $0 == .leave }) <= 1)
                }
            }
        }
        print("\(check.states.count) machine states x \(events.count) events")
    }
}

extension EvaluationEvent {
    /// Every event, from two readers that take part and one that does not.
    fileprivate static var samples: [EvaluationEvent] {
        let readers = [ReaderID(0), ReaderID(1), ReaderID(9)]
        var events: [EvaluationEvent] = [
            .admitted, .turnCame, .confirmed, .prepared([], attemptsLeft: 5),
            .prepared(readers, attemptsLeft: 5),
        ]
        for error in EvaluationError.allCases { events += [.refused(error), .interrupted(error)] }
        for left in [UInt32(0), 1, 2, 5, .max] { events.append(.charged(attemptsLeft: left)) }
        for reader in readers {
            events += [.opened(reader), .released(reader)]
            events += SensorState.allStates.map { .sensed(reader, $0) }
            events += ScanVerdict.samples.map { .judged(reader, $0) }
            events += ReaderFailure.allCases.map { .failed(reader, $0) }
        }
        return events
    }
}
