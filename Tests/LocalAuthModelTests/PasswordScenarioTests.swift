// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

private let first = ReaderID(0)
private let second = ReaderID(1)
private let match = ScanVerdict.matched(.sample)
private let entry = SubmissionID(1)

@Suite struct `An evaluation with a prompt` {
    @Test func `has it shown before a reader is opened`() {
        let run = Run(.either)
        run.take(.admitted)
        run.take(.turnCame)
        let view = PromptView(
            wantsFinger: true, takesPassword: true, attemptsLeft: 3, passwordsLeft: 3)
        #expect(run.take(.prepared(.shown([first]))) == [.present(view)])
        #expect(run.take(.presented) == [.open(first)])
        #expect(run.take(.presented) == [])
    }

    @Test func `waits for the password alone where there is no reader`() {
        let run = Run.prepared(.shown([]), .either)
        #expect(run.take(.presented) == [.tellProgress(.waitingForPassword)])
    }

    @Test(
        arguments: [
            (.either, []), (.either.withoutFallback, []), (.biometrics, [first]),
            (.biometrics.withoutFallback, [first]), (.either.withoutFallback, [first]),
            (.either, [first]), (.password, []),
        ] as [(EvaluationTerms, [ReaderID])])
    func `takes a password where the button leads to it, or nothing else is left`(
        terms: EvaluationTerms, readers: [ReaderID]
    ) {
        let run = Run.prepared(.shown(readers), terms)
        run.take(.presented)
        let isTaken =
            terms.requirement != .finger && (terms.hasFallback || readers.isEmpty)
        #expect(run.state.takesPassword(terms) == isTaken)
        #expect(run.take(.passwordSubmitted(entry)) == (isTaken ? [.check(entry)] : []))
    }

    @Test func `succeeds with the right password, and lets the readers go`() {
        let run = Run.prompting(first)
        #expect(run.take(.passwordSubmitted(entry)) == [.check(entry)])
        #expect(run.state.isCheckingPassword)
        #expect(run.take(.passwordSubmitted(SubmissionID(2))) == [])
        #expect(
            run.take(.passwordJudged(entry, .correct)) == [
                .answerEntry(entry, isAccepted: true, left: 3), .release(first),
                .confirm(.password),
            ])
        #expect(run.take(.confirmed).answers == [nil])
    }

    @Test func `ends with the third wrong password`() {
        let run = Run.prompting(first)
        for left in [UInt32(2), 1] {
            run.take(.passwordSubmitted(entry))
            #expect(
                run.take(.passwordJudged(entry, .wrong)).first
                    == .answerEntry(entry, isAccepted: false, left: left))
        }
        run.take(.passwordSubmitted(entry))
        #expect(run.take(.passwordJudged(entry, .wrong)).answers == [.authenticationFailed])
    }

    @Test(arguments: [UInt32(0), 2])
    func `goes on with the password after the last miss`(attemptsLeft: UInt32) {
        let run = Run.prompting(first)
        for _ in 1...2 {
            run.take(.judged(first, .missed))
            run.take(.charged(attemptsLeft: 3))
        }
        run.take(.judged(first, .missed))
        let view = PromptView(
            wantsFinger: false, takesPassword: true, attemptsLeft: 0, passwordsLeft: 3)
        #expect(
            run.take(.charged(attemptsLeft: attemptsLeft)) == [
                .release(first), .show(view), .tellProgress(.waitingForPassword),
            ])
        #expect(run.take(.judged(first, match)) == [])
        #expect(run.take(.released(first)) == [])
        #expect(run.take(.passwordSubmitted(entry)) == [.check(entry)])
    }

    @Test(arguments: ReaderFailure.allCases)
    func `goes on with the password when its last reader is lost`(failure: ReaderFailure) {
        let run = Run.prompting(first)
        let effects = run.take(.failed(first, failure))
        // The system has stopped it, and goes to sleep.
        #expect(effects.answers == (failure == .cancelled ? [.systemCancel] : []))
    }

    @Test func `takes the password's word after the miss that was being charged`() {
        let run = Run.prompting(first)
        run.take(.passwordSubmitted(entry))
        run.take(.judged(first, .missed))
        #expect(run.take(.passwordJudged(entry, .correct)) == [])
        #expect(
            run.take(.charged(attemptsLeft: 0)) == [
                .answerEntry(entry, isAccepted: true, left: 3), .release(first),
                .confirm(.password),
            ])
    }

    @Test func `ends by the fallback button under policy 1`() {
        let run = Run.prompting(first, terms: .biometrics)
        #expect(run.take(.fallbackChosen).answers == [.userFallback])
        let plain = Run.prompting(first, terms: .biometrics.withoutFallback)
        #expect(!plain.state.takesFallback(plain.terms))
        #expect(plain.take(.fallbackChosen) == [])
    }
}

@Suite struct `A miss` {
    @Test func `is charged that is found while the fallback is chosen`() {
        let run = Run.prompting(first)
        #expect(run.take(.fallbackChosen).first == .release(first))
        #expect(run.take(.judged(first, .missed)) == [.charge])
        #expect(run.take(.released(first)) == [])
        run.take(.charged(attemptsLeft: 4))
        #expect(run.take(.passwordSubmitted(entry)) == [.check(entry)])
    }

    @Test func `is charged though its reader went under the lid before its turn`() {
        let run = Run.scanning(first, second)
        run.take(.judged(first, .missed))
        run.take(.judged(second, .missed))
        #expect(run.take(.failed(second, .inaccessible)) == [.release(second)])
        #expect(
            run.take(.charged(attemptsLeft: 4)) == [
                .tellRetry(nil, attemptsLeft: 2), .scan(first), .charge,
            ])
    }

    @Test func `is charged beside a match that was not confirmed`() {
        let run = Run.scanning(first, second)
        run.take(.judged(first, match))
        #expect(run.take(.judged(second, .missed)) == [])
        let effects = run.take(.refused(.systemCancel))
        #expect(effects.answers == [.systemCancel])
        #expect(effects.count { $0 == .charge } == 1)
    }

    @Test func `is settled by a success beside it`() {
        let run = Run.scanning(first, second)
        run.take(.judged(first, match))
        run.take(.judged(second, .missed))
        #expect(run.take(.confirmed) == [.tellProgress(.finished), .answer(nil)])
    }

    @Test func `is charged with others when the wait for the last of them is over`() {
        let run = Run.prompting(first, second)
        run.take(.judged(first, .missed))
        run.take(.judged(second, .missed))
        // Of three allowed two are made; the lockout takes the finger away with one kept.
        let effects = run.take(.charged(attemptsLeft: 0))
        #expect(effects.contains(.charge))
        run.take(.charged(attemptsLeft: 0))
        #expect(run.state.takesPassword(run.terms))
    }
}
