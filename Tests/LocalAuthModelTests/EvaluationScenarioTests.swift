// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

private let first = ReaderID(0)
private let second = ReaderID(1)
private let match = ScanVerdict.matched(.sample)

@Suite struct `An evaluation` {
    @Test func `goes from its call to a success`() {
        let run = Run()
        #expect(firstEvaluationEffects == [.admit])
        #expect(run.take(.admitted) == [.queue])
        #expect(run.take(.turnCame) == [.prepare])
        #expect(run.take(.prepared(.silent([first]))) == [.open(first)])
        #expect(run.take(.opened(first)) == [.scan(first)])
        #expect(run.take(.sensed(first, .fingerNeeded)) == [.tellProgress(.waitingForFinger)])
        #expect(run.take(.sensed(first, .fingerPresent)) == [.tellProgress(.fingerOnSensor)])
        #expect(run.take(.sensed(first, .fingerNeeded)) == [.tellProgress(.matching)])
        #expect(run.take(.judged(first, match)) == [.release(first), .confirm(.finger(.sample))])
        #expect(run.take(.confirmed) == [.tellProgress(.finished), .answer(nil)])
        #expect(run.take(.released(first)) == [.leave])
        #expect(run.state == .finished)
    }

    @Test func `tells of a miss only when it is written down`() {
        let run = Run.scanning(first)
        #expect(run.take(.judged(first, .missed)) == [.charge])
        #expect(
            run.take(.charged(attemptsLeft: 4)) == [
                .tellRetry(nil, attemptsLeft: 2), .scan(first),
            ])
    }

    @Test func `tells of fewer attempts when the lockout is nearer than its own end`() {
        let run = Run.scanning(first)
        run.take(.judged(first, .missed))
        #expect(run.take(.charged(attemptsLeft: 1)).first == .tellRetry(nil, attemptsLeft: 1))
    }

    @Test func `fails with the third miss`() {
        let run = Run.scanning(first)
        for left in [UInt32(4), 3] {
            run.take(.judged(first, .missed))
            #expect(run.take(.charged(attemptsLeft: left)).answers == [])
        }
        run.take(.judged(first, .missed))
        #expect(run.take(.charged(attemptsLeft: 2)).answers == [.authenticationFailed])
    }

    @Test func `ends with the lockout when the charge says so, whichever miss it was`() {
        let run = Run.scanning(first)
        run.take(.judged(first, .missed))
        #expect(run.take(.charged(attemptsLeft: 0)).answers == [.biometryLockout])
    }

    @Test func `that could go on with a password says that nobody can be asked for it`() {
        let run = Run.scanning(first, terms: .either)
        run.take(.judged(first, .missed))
        #expect(run.take(.charged(attemptsLeft: 0)).answers == [.notInteractive])
    }

    @Test(arguments: RetryCause.allCases)
    func `is not charged for a bad scan`(cause: RetryCause) {
        let run = Run.scanning(first)
        #expect(
            run.take(.judged(first, .badScan(cause))) == [
                .tellRetry(cause, attemptsLeft: 3), .scanAfterPause(first),
            ])
    }

    @Test func `ends after too many bad scans, without a word about the finger`() {
        let run = Run.scanning(first)
        for _ in 0..<2 { run.take(.judged(first, .badScan(.general))) }
        #expect(
            run.take(.judged(first, .badScan(.general))).answers == [.biometryNotAvailable])
    }

    @Test func `takes a touch on a second reader after the charge of the first`() {
        let run = Run.scanning(first, second)
        #expect(run.take(.judged(first, .missed)) == [.charge])
        #expect(run.take(.judged(second, match)) == [])
        #expect(
            run.take(.charged(attemptsLeft: 4)) == [
                .tellRetry(nil, attemptsLeft: 2), .scan(first), .release(first),
                .release(second), .confirm(.finger(.sample)),
            ])
    }

    @Test func `charges misses on two readers one after the other`() {
        let run = Run.scanning(first, second)
        run.take(.judged(first, .missed))
        run.take(.judged(second, .missed))
        #expect(
            run.take(.charged(attemptsLeft: 4)) == [
                .tellRetry(nil, attemptsLeft: 2), .scan(first), .charge,
            ])
        #expect(
            run.take(.charged(attemptsLeft: 3)) == [
                .tellRetry(nil, attemptsLeft: 1), .scan(second),
            ])
    }

    @Test func `accepts no match that waited behind the last miss`() {
        let run = Run.scanning(first, second)
        for left in [UInt32(4), 3] {
            run.take(.judged(first, .missed))
            run.take(.charged(attemptsLeft: left))
        }
        run.take(.judged(first, .missed))
        run.take(.judged(second, match))
        #expect(run.take(.charged(attemptsLeft: 2)).answers == [.authenticationFailed])
    }

    @Test func `drops the touch of a reader that was lost before its turn`() {
        let run = Run.scanning(first, second)
        run.take(.judged(first, .missed))
        run.take(.judged(second, match))
        #expect(run.take(.failed(second, .removed)) == [.release(second)])
        #expect(
            run.take(.charged(attemptsLeft: 4)) == [
                .tellRetry(nil, attemptsLeft: 2), .scan(first),
            ])
    }

    @Test func `goes on while a reader is left`() {
        let run = Run.scanning(first, second)
        #expect(run.take(.failed(first, .removed)) == [.release(first)])
        #expect(run.take(.released(first)) == [])
        #expect(run.take(.judged(second, match)) == [.release(second), .confirm(.finger(.sample))])
    }

    @Test(arguments: ReaderFailure.allCases)
    func `ends with its last reader's failure, which is no miss`(failure: ReaderFailure) {
        let run = Run.scanning(first, second)
        run.take(.failed(first, .io))
        let effects = run.take(.failed(second, failure))
        #expect(effects.answers == [EvaluationError(failure)])
        #expect(!effects.contains(.charge))
        #expect(effects.filter { $0 == .release(second) }.count == 1)
    }

    @Test func `knows a finger that came while another reader's miss was charged`() {
        let run = Run.scanning(first, second)
        run.take(.judged(first, .missed))
        run.take(.sensed(second, .fingerPresent))
        run.take(.charged(attemptsLeft: 4))
        #expect(run.take(.sensed(second, .fingerNeeded)) == [.tellProgress(.matching)])
    }

    @Test func `has nothing to scan where no print was found`() {
        let run = Run()
        run.take(.admitted)
        run.take(.turnCame)
        #expect(
            run.take(.prepared(.silent([]))) == [.answer(.biometryNotEnrolled), .leave])
        #expect(run.state == .finished)
    }

    @Test func `is refused when the caller has gone while its match was confirmed`() {
        let run = Run.scanning(first)
        run.take(.judged(first, match))
        #expect(run.take(.refused(.appCancel)).answers == [.appCancel])
    }

    @Test func `leaves only when the charge is written`() {
        let run = Run.scanning(first)
        run.take(.judged(first, .missed))
        #expect(
            run.take(.interrupted(.appCancel)) == [
                .tellProgress(.finished), .answer(.appCancel), .release(first),
            ])
        #expect(run.take(.released(first)) == [])
        #expect(run.take(.charged(attemptsLeft: 0)) == [.leave])
    }

    @Test func `charges a miss that is found while the reader is being stopped`() {
        let run = Run.scanning(first)
        #expect(run.take(.interrupted(.appCancel)).answers == [.appCancel])
        #expect(run.take(.judged(first, .missed)) == [.charge])
        #expect(run.take(.released(first)) == [])
        #expect(run.take(.charged(attemptsLeft: 4)) == [.leave])
    }

    @Test func `has no use for a match that is found while the reader is being stopped`() {
        let run = Run.scanning(first)
        run.take(.interrupted(.appCancel))
        #expect(run.take(.judged(first, match)) == [])
        #expect(run.take(.released(first)) == [.leave])
    }

    @Test(arguments: EvaluationError.allCases)
    func `answers an interruption at once, wherever it stands`(error: EvaluationError) {
        var runs = [Run()]
        for event in [
            EvaluationEvent.admitted, .turnCame, .prepared(.silent([first])), .opened(first),
            .judged(first, .missed), .charged(attemptsLeft: 4), .judged(first, match),
        ] {
            let next = Run(like: runs[runs.count - 1])
            next.take(event)
            runs.append(next)
        }
        for run in runs {
            #expect(run.take(.interrupted(error)).answers == [error])
            #expect(run.take(.interrupted(error)) == [])
            #expect(run.take(.judged(first, match)) == [])
            #expect(run.take(.confirmed) == [])
        }
    }

    @Test func `that is answered gives its turn up to who waits, if readers do not let go`() {
        let run = Run.scanning(first, second)
        run.take(.interrupted(.appCancel))
        run.take(.released(second))
        #expect(run.take(.overdue) == [.yield([first])])
        // What the driver still finds is charged, and in the end nothing is left.
        #expect(run.take(.judged(first, .missed)) == [.charge])
        #expect(run.take(.charged(attemptsLeft: 4)) == [])
        #expect(run.take(.released(first)) == [.leave])
        #expect(run.take(.overdue) == [])
    }

    @Test func `that waits for nobody but the disk gives up nothing`() {
        let run = Run.scanning(first)
        run.take(.judged(first, .missed))
        run.take(.interrupted(.appCancel))
        run.take(.released(first))
        #expect(run.take(.overdue) == [])
        #expect(run.take(.charged(attemptsLeft: 4)) == [.leave])
    }
}
