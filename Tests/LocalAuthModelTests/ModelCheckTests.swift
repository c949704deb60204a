// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

@Suite struct `Everything that can happen to an evaluation` {
    @Test(arguments: Requirement.allCases, [UInt32(1), 2, 5])
    func `keeps the rules with one reader`(requirement: Requirement, attemptsLeft: UInt32) throws {
        let terms = EvaluationTerms(requirement, missesAllowed: 3, badScansAllowed: 3)
        let check = try ModelCheck(terms, readers: 1, attemptsLeft: attemptsLeft)
        report("one reader, \(requirement), \(attemptsLeft) left", check)
        #expect(check.nodes.contains { $0.state == .finished })
    }

    @Test(arguments: Requirement.allCases, [true, false])
    func `keeps the rules with a prompt`(requirement: Requirement, hasFallback: Bool) throws {
        for (readers, attemptsLeft) in [(0, UInt32(5)), (1, 5), (1, 2), (2, 2)] {
            let terms = EvaluationTerms(
                requirement, missesAllowed: readers == 2 ? 2 : 3, badScansAllowed: 2,
                passwordsAllowed: 2, hasFallback: hasFallback)
            let check = try ModelCheck(
                terms, readers: readers, attemptsLeft: attemptsLeft, hasAgent: true)
            report("\(readers) readers, a prompt, \(requirement), \(attemptsLeft) left", check)
            let isAsked = check.states.contains { if case .confirming = $0 { true } else { false } }
            #expect(isAsked == (readers > 0 || requirement != .finger))
        }
    }

    @Test(arguments: [(UInt32(1), UInt32(2)), (2, 2), (5, 2), (5, 3)])
    func `keeps the rules with two readers`(attemptsLeft: UInt32, badScans: UInt32) throws {
        let terms = EvaluationTerms(.finger, missesAllowed: 3, badScansAllowed: badScans)
        let check = try ModelCheck(terms, readers: 2, attemptsLeft: attemptsLeft)
        report("two readers, \(attemptsLeft) left, \(badScans) bad scans", check)
        #expect(check.nodes.contains { $0.state == .finished })
    }

    private func report(_ what: String, _ check: ModelCheck) {
        print(what + ":", "\(check.nodes.count) states, \(check.transitions) transitions")
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

    @Test func `comes to every ending that policy 2 has, and to no other`() throws {
        let check = try ModelCheck(.either, readers: 1, attemptsLeft: 2, hasAgent: true)
        #expect(
            check.answers == [
                nil, .authenticationFailed, .accountUnavailable, .biometryLockout,
                .limitsExceeded, .notAuthorized, .passcodeNotSet, .passwordNotAvailable,
                .systemCancel, .timeout,
            ])
    }

    @Test func `leaves no state without an answer to any event`() throws {
        try answerEverything(try ModelCheck(.biometrics, readers: 2, attemptsLeft: 5))
        try answerEverything(
            try ModelCheck(.either, readers: 1, attemptsLeft: 5, hasAgent: true))
    }

    private func answerEverything(_ check: ModelCheck) throws {
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
                case .admitting, .queued, .preparing, .presenting, .asking, .charging,
                    .confirming:
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
            .admitted, .turnCame, .confirmed, .prepared(.silent([])), .prepared(.silent(readers)),
            .prepared(.shown([])), .prepared(.shown(readers)), .presented, .fallbackChosen,
        ]
        for entry in [World.entry, SubmissionID(9)] {
            events += [.passwordSubmitted(entry), .passwordQuestioned(entry)]
            events += PasswordVerdict.allCases.map { .passwordJudged(entry, $0) }
        }
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
