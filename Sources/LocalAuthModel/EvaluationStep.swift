// SPDX-License-Identifier: Apache-2.0

/// What a step leads to.
package typealias EvaluationOutcome = (state: EvaluationState, effects: [EvaluationEffect])

/// The first effects of a new evaluation, which is `admitting`.
package let firstEvaluationEffects: [EvaluationEffect] = [.admit]

/// One step of an evaluation. Pure: no clock, no bus, no reader; every pair of state and event is
/// answered, and pairs that mean nothing any more change nothing.
package func step(
    _ state: EvaluationState, _ event: EvaluationEvent, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    let outcome = follow(state, event, terms)
    return (outcome.state, outcome.effects.map { $0.under(terms.policy) })
}

private func follow(
    _ state: EvaluationState, _ event: EvaluationEvent, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    switch (state, event) {
    // Before the readers
    case (.admitting, .admitted): (.queued, [.queue])
    case (.queued, .turnCame): (.preparing, [.prepare])
    case (.preparing, .prepared(let readers, let left)): arm(readers, left)
    case (.admitting, .refused(let error)), (.admitting, .interrupted(let error)),
        (.queued, .refused(let error)), (.queued, .interrupted(let error)),
        (.preparing, .refused(let error)), (.preparing, .interrupted(let error)):
        (.finished, [.answer(error), .leave])

    // Readers are armed
    case (.scanning(let scan), .opened(let reader)): scanNow(scan, reader)
    case (.scanning(let scan), .sensed(let reader, let sensor)): sensed(scan, reader, sensor)
    case (.scanning(let scan), .judged(let reader, let verdict)):
        judge(scan, reader, verdict, terms)
    case (.scanning(let scan), .failed(let reader, let failure)):
        lose(scan, reader, failure)
    case (.scanning(let scan), .released(let reader)): (.scanning(scan.without(reader)), [])
    case (.scanning(let scan), .interrupted(let error)), (.scanning(let scan), .refused(let error)):
        end(scan, error)

    // A miss is being written down
    case (.charging(let scan), .charged(let left)): afterCharge(scan, left, terms)
    case (.charging(let scan), .opened(let reader)): scanMeanwhile(scan, reader)
    case (.charging(let scan), .judged(let reader, let verdict)):
        keep(scan, reader, verdict)
    case (.charging(let scan), .sensed(let reader, let sensor)):
        senseMeanwhile(scan, reader, sensor)
    case (.charging(let scan), .failed(let reader, _)): loseMeanwhile(scan, reader)
    case (.charging(let scan), .released(let reader)): (.charging(scan.without(reader)), [])
    case (.charging(let scan), .interrupted(let error)), (.charging(let scan), .refused(let error)):
        end(scan, error, charges: 1)

    // A match is being confirmed; its readers are letting go
    case (.confirming(let scan), .confirmed): end(scan, nil)
    case (.confirming(let scan), .refused(let error)),
        (.confirming(let scan), .interrupted(let error)):
        end(scan, error)
    case (.confirming(let scan), .released(let reader)): (.confirming(scan.without(reader)), [])

    // Answered
    case (.ending(let scan, let charges), .released(let reader)):
        settle(scan.without(reader), charges)
    case (.ending(let scan, let charges), .charged): settle(scan, charges - min(charges, 1))
    case (.ending(let scan, let charges), .judged(let reader, let verdict)):
        judgeLate(scan, reader, verdict, charges)
    case (.ending(let scan, let charges), .overdue): yieldTurn(scan, charges)

    // What comes too late or means nothing here
    case (.admitting, .turnCame), (.admitting, .prepared), (.admitting, .opened),
        (.admitting, .sensed), (.admitting, .judged), (.admitting, .failed),
        (.admitting, .released), (.admitting, .charged), (.admitting, .confirmed),
        (.admitting, .overdue),
        (.queued, .admitted), (.queued, .prepared), (.queued, .opened), (.queued, .sensed),
        (.queued, .judged), (.queued, .failed), (.queued, .released), (.queued, .charged),
        (.queued, .confirmed), (.queued, .overdue),
        (.preparing, .admitted), (.preparing, .turnCame), (.preparing, .opened),
        (.preparing, .sensed), (.preparing, .judged), (.preparing, .failed),
        (.preparing, .released), (.preparing, .charged), (.preparing, .confirmed),
        (.preparing, .overdue),
        (.scanning, .admitted), (.scanning, .turnCame), (.scanning, .prepared),
        (.scanning, .charged), (.scanning, .confirmed), (.scanning, .overdue),
        (.charging, .admitted), (.charging, .turnCame), (.charging, .prepared),
        (.charging, .confirmed), (.charging, .overdue),
        (.confirming, .admitted), (.confirming, .turnCame), (.confirming, .prepared),
        (.confirming, .opened), (.confirming, .sensed), (.confirming, .judged),
        (.confirming, .failed), (.confirming, .charged), (.confirming, .overdue),
        (.ending, .admitted), (.ending, .refused), (.ending, .turnCame), (.ending, .prepared),
        (.ending, .opened), (.ending, .sensed), (.ending, .failed),
        (.ending, .confirmed), (.ending, .interrupted),
        (.finished, _):
        (state, [])
    }
}

extension EvaluationEffect {
    fileprivate func under(_ policy: Policy) -> EvaluationEffect {
        if case .answer(let error?) = self { .answer(error.under(policy)) } else { self }
    }
}
