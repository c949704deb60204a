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
    switch state {
    case .admitting, .queued, .preparing, .presenting: stepBefore(state, event, terms)
    case .asking(let asking): stepAsking(asking, event, terms)
    case .charging(let asking): stepCharging(asking, event, terms)
    case .confirming(let asking): stepConfirming(asking, event)
    case .ending(let asking, let charges): stepEnding(asking, charges, event)
    case .finished: (.finished, [])
    }
}

/// Before the user is asked: one thing after the other.
private func stepBefore(
    _ state: EvaluationState, _ event: EvaluationEvent, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    switch event {
    case .admitted: if case .admitting = state { (.queued, [.queue]) } else { (state, []) }
    // By an earlier success of the caller
    case .confirmed:
        if case .admitting = state { (.finished, [.answer(nil), .leave]) } else { (state, []) }
    case .turnCame: if case .queued = state { (.preparing, [.prepare]) } else { (state, []) }
    case .prepared(let offer):
        if case .preparing = state { begin(offer, terms) } else { (state, []) }
    case .presented:
        if case .presenting(let offer) = state { arm(offer, terms) } else { (state, []) }
    case .refused(let error), .interrupted(let error): (.finished, [.answer(error), .leave])
    case .opened, .sensed, .judged, .failed, .released, .charged, .fallbackChosen,
        .passwordSubmitted, .passwordQuestioned, .passwordJudged, .overdue:
        (state, [])
    }
}

/// The user is asked.
private func stepAsking(
    _ asking: Asking, _ event: EvaluationEvent, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    switch event {
    case .opened(let reader): scanNow(asking, reader)
    case .sensed(let reader, let sensor): sensed(asking, reader, sensor)
    case .judged(let reader, let verdict): judge(asking, reader, verdict, terms)
    case .failed(let reader, let failure): lose(asking, reader, failure, terms)
    case .released(let reader): release(asking, reader)
    case .fallbackChosen: fallBack(asking, terms)
    case .passwordSubmitted(let entry): submit(asking, entry, terms)
    case .passwordQuestioned(let entry): question(asking, entry, terms)
    case .passwordJudged(let entry, let verdict): judge(asking, entry, verdict, terms)
    case .interrupted(let error), .refused(let error): end(asking, error)
    case .admitted, .turnCame, .prepared, .presented, .charged, .confirmed, .overdue:
        (.asking(asking), [])
    }
}

/// A miss is being written down.
private func stepCharging(
    _ asking: Asking, _ event: EvaluationEvent, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    switch event {
    case .charged(let left): afterCharge(asking, left, terms)
    case .opened(let reader): scanMeanwhile(asking, reader)
    case .sensed(let reader, let sensor): senseMeanwhile(asking, reader, sensor)
    case .judged(let reader, let verdict): keep(asking, reader, verdict)
    case .failed(let reader, _): loseMeanwhile(asking, reader)
    case .released(let reader): (.charging(asking.without(reader)), [])
    case .fallbackChosen: fallBackMeanwhile(asking, terms)
    case .passwordSubmitted(let entry): meanwhile(submit(asking, entry, terms))
    case .passwordQuestioned(let entry): meanwhile(question(asking, entry, terms))
    case .passwordJudged(let entry, let verdict): keep(asking, entry, verdict)
    case .interrupted(let error), .refused(let error): end(asking, error, charges: 1)
    case .admitted, .turnCame, .prepared, .presented, .confirmed, .overdue:
        (.charging(asking), [])
    }
}

/// It is the user, which is being confirmed; the readers are letting go.
private func stepConfirming(_ asking: Asking, _ event: EvaluationEvent) -> EvaluationOutcome {
    switch event {
    case .confirmed: end(asking, nil)
    case .refused(let error), .interrupted(let error): end(asking, error)
    case .released(let reader): (.confirming(asking.without(reader)), [])
    case .judged(let reader, let verdict): (.confirming(asking.notingLate(reader, verdict)), [])
    case .admitted, .turnCame, .prepared, .presented, .opened, .sensed, .failed, .charged,
        .fallbackChosen, .passwordSubmitted, .passwordQuestioned, .passwordJudged, .overdue:
        (.confirming(asking), [])
    }
}

/// Answered.
private func stepEnding(
    _ asking: Asking, _ charges: UInt32, _ event: EvaluationEvent
) -> EvaluationOutcome {
    switch event {
    case .released(let reader): settle(asking.without(reader), charges)
    case .charged: settle(asking, charges - min(charges, 1))
    case .judged(let reader, let verdict): judgeLate(asking, reader, verdict, charges)
    case .overdue: yieldTurn(asking, charges)
    case .admitted, .refused, .turnCame, .prepared, .presented, .opened, .sensed, .failed,
        .fallbackChosen, .passwordSubmitted, .passwordQuestioned, .passwordJudged, .confirmed,
        .interrupted:
        (.ending(asking, charges: charges), [])
    }
}
