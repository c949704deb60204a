// SPDX-License-Identifier: Apache-2.0

// The rules behind `step` that are about readers, each for the states that its name says.

/// It is known what can be asked for. A prompt comes before the readers: no sensor lights up that
/// nobody was told of.
func begin(_ offer: EvaluationOffer, _ terms: EvaluationTerms) -> EvaluationOutcome {
    let asking = Asking(offer)
    guard !offer.readers.isEmpty || asking.canTakePassword(terms) else {
        return (.finished, [.answer(asking.ending(.biometryNotEnrolled, terms)), .leave])
    }
    guard offer.hasPrompt else { return arm(offer, terms) }
    return (.presenting(offer), [.present(asking.view(terms))])
}

/// Open every reader that has prints of the user, or wait for the password alone.
func arm(_ offer: EvaluationOffer, _ terms: EvaluationTerms) -> EvaluationOutcome {
    let opens = offer.readers.map { EvaluationEffect.open($0) }
    return (.asking(Asking(offer)), opens.isEmpty ? [.tellProgress(.waitingForPassword)] : opens)
}

/// A reader is open.
func scanNow(_ asking: Asking, _ reader: ReaderID) -> EvaluationOutcome {
    guard asking.readers[reader] == .opening else { return (.asking(asking), []) }
    return (.asking(asking.with(reader, .scanning)), [.scan(reader)])
}

func sensed(_ asking: Asking, _ reader: ReaderID, _ sensor: SensorState) -> EvaluationOutcome {
    guard asking.readers[reader] == .scanning else { return (.asking(asking), []) }
    var asking = asking
    let wasTouched = asking.touched.contains(reader)
    let progress: EvaluationProgress
    switch sensor {
    case .fingerPresent:
        asking.touched.insert(reader)
        progress = .fingerOnSensor
    // Drivers go on to say that they need a finger until they have compared the touch.
    case .fingerNeeded: progress = wasTouched ? .matching : .waitingForFinger
    case .idle where wasTouched: progress = .matching
    case .idle: return (.asking(asking), [])
    }
    return (.asking(asking), [.tellProgress(progress)])
}

/// A touch has been compared. Only a reader that was scanning can say so, for a scan answers once;
/// one that is being released can only add a miss.
func judge(
    _ asking: Asking, _ reader: ReaderID, _ verdict: ScanVerdict, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    guard asking.readers[reader] == .scanning else {
        return chargeNext(asking.notingLate(reader, verdict))
    }
    var asking = asking.with(reader, .resting)
    switch verdict {
    case .matched(let print): return confirm(.finger(print), asking)
    case .missed:
        asking.misses += 1
        return (.charging(asking), [.charge])
    case .badScan(let cause):
        asking.badScans += 1
        guard asking.badScans < terms.badScansAllowed else {
            return giveUpFingers(asking, .biometryNotAvailable, terms)
        }
        return (
            .asking(asking.with(reader, .scanning)),
            [.tellRetry(cause, attemptsLeft: asking.attemptsLeft(terms)), .scanAfterPause(reader)]
        )
    }
}

/// It is the user: the readers let go, and caller and session are looked at again.
func confirm(_ proof: Proof, _ asking: Asking) -> EvaluationOutcome {
    var asking = asking
    let releases = asking.releaseAll()
    return (.confirming(asking), releases + [.confirm(proof)])
}

/// A reader is lost; the others go on.
func lose(
    _ asking: Asking, _ reader: ReaderID, _ failure: ReaderFailure, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    guard let phase = asking.readers[reader], phase != .releasing else {
        return (.asking(asking), [])
    }
    let asking = asking.with(reader, .releasing)
    guard asking.active.isEmpty else { return (.asking(asking), [.release(reader)]) }
    let (state, effects) = giveUpFingers(asking, EvaluationError(failure), terms)
    return (state, [.release(reader)] + effects)
}

/// A reader that was lost, or is not wanted any more, is closed and idle.
func release(_ asking: Asking, _ reader: ReaderID) -> EvaluationOutcome {
    (.asking(asking.without(reader)), [])
}

/// A finger is of no use any more: goes on with the password where it is taken, and else ends.
func giveUpFingers(
    _ asking: Asking, _ error: EvaluationError, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    guard error.leavesPassword, asking.canTakePassword(terms) else {
        return end(asking, asking.ending(error, terms))
    }
    var asking = asking
    let releases = asking.releaseAll()
    let shown: [EvaluationEffect] = [
        .show(asking.view(terms)), .tellProgress(.waitingForPassword),
    ]
    let (state, effects) = chargeNext(asking)
    return (state, releases + shown + effects)
}

/// The miss is on disk, so that now it may be told.
func afterCharge(
    _ asking: Asking, _ attemptsLeft: UInt32, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    var asking = asking
    asking.missesToLockout = attemptsLeft
    // It is the user, whatever the misses have come to.
    if asking.waitingVerdict == .correct { return takeUpVerdict((.asking(asking), []), terms) }
    guard attemptsLeft > 0 else {
        return takeUpVerdict(giveUpFingers(asking, .biometryLockout, terms), terms)
    }
    guard asking.misses < terms.missesAllowed else {
        return takeUpVerdict(giveUpFingers(asking, .authenticationFailed, terms), terms)
    }
    guard !asking.active.isEmpty else {
        return takeUpVerdict(giveUpFingers(asking, .biometryNotAvailable, terms), terms)
    }
    var effects: [EvaluationEffect] = [.tellRetry(nil, attemptsLeft: asking.attemptsLeft(terms))]
    let waiting = asking.waiting
    asking.waiting = []
    for reader in asking.active where asking.readers[reader] == .resting {
        guard !waiting.contains(where: { $0.reader == reader }) else { continue }
        asking.readers[reader] = .scanning
        effects.append(.scan(reader))
    }
    var (state, more) = chargeNext(asking)
    effects += more
    // Touches that came meanwhile are taken up in their order, as if they came now.
    for touch in waiting {
        (state, more) = takeUp(touch, state, terms)
        effects += more
    }
    return takeUpVerdict((state, effects), terms)
}

private func takeUp(
    _ touch: Asking.Touch, _ state: EvaluationState, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    let (reader, verdict) = (touch.reader, touch.verdict)
    switch state {
    case .asking(let asking): return judge(asking.scanning(reader), reader, verdict, terms)
    case .charging(let asking): return keep(asking.scanning(reader), reader, verdict)
    case .confirming(let asking): return (.confirming(asking.notingLate(reader, verdict)), [])
    case .ending(let asking, let charges): return judgeLate(asking, reader, verdict, charges)
    case .admitting, .queued, .preparing, .presenting, .finished: return (state, [])
    }
}

/// Charges the next miss that readers have found while they were being released, if there is one.
func chargeNext(_ asking: Asking) -> EvaluationOutcome {
    guard asking.lateMisses > 0 else { return (.asking(asking), []) }
    var asking = asking
    asking.lateMisses -= 1
    asking.misses += 1
    return (.charging(asking), [.charge])
}

/// A reader is open while a miss of another one is being charged.
func scanMeanwhile(_ asking: Asking, _ reader: ReaderID) -> EvaluationOutcome {
    let (_, effects) = scanNow(asking, reader)
    return (.charging(effects.isEmpty ? asking : asking.with(reader, .scanning)), effects)
}

/// The sensor says something while a miss of another reader is being charged: noted, and told
/// with what it says next.
func senseMeanwhile(
    _ asking: Asking, _ reader: ReaderID, _ sensor: SensorState
) -> EvaluationOutcome {
    var asking = asking
    if asking.readers[reader] == .scanning, sensor == .fingerPresent {
        asking.touched.insert(reader)
    }
    return (.charging(asking), [])
}

/// Keeps a touch that comes while a miss is being charged.
func keep(_ asking: Asking, _ reader: ReaderID, _ verdict: ScanVerdict) -> EvaluationOutcome {
    guard asking.readers[reader] == .scanning else {
        return (.charging(asking.notingLate(reader, verdict)), [])
    }
    var asking = asking.with(reader, .resting)
    asking.waiting.append(Asking.Touch(reader: reader, verdict: verdict))
    return (.charging(asking), [])
}

/// A reader is lost while a miss is being charged; what follows is decided after the charge.
func loseMeanwhile(_ asking: Asking, _ reader: ReaderID) -> EvaluationOutcome {
    guard let phase = asking.readers[reader], phase != .releasing else {
        return (.charging(asking), [])
    }
    var asking = asking.with(reader, .releasing)
    asking.dropTouches { $0 == reader }
    return (.charging(asking), [.release(reader)])
}

/// Answers, and waits for what is still going on.
func end(
    _ asking: Asking, _ error: EvaluationError?, charges: UInt32 = 0
) -> EvaluationOutcome {
    var asking = asking
    let releases = asking.releaseAll()
    // Misses that were not taken up any more are charged all the same, unless a success has
    // settled them.
    let late = error == nil ? 0 : asking.lateMisses
    asking.lateMisses = 0
    let (state, settled) = settle(asking, charges + late)
    let effects = Array(repeating: EvaluationEffect.charge, count: Int(late)) + settled
    return (state, [.tellProgress(.finished), .answer(error)] + releases + effects)
}

/// Over, if nothing is still going on.
func settle(_ asking: Asking, _ charges: UInt32) -> EvaluationOutcome {
    guard asking.readers.isEmpty, charges == 0 else {
        return (.ending(asking, charges: charges), [])
    }
    return (.finished, [.leave])
}

/// A driver that never lets go would otherwise keep everybody from every reader. What it still
/// says is heard all the same.
func yieldTurn(_ asking: Asking, _ charges: UInt32) -> EvaluationOutcome {
    let kept = asking.readers.keys.sorted { $0.number < $1.number }
    return (.ending(asking, charges: charges), kept.isEmpty ? [] : [.yield(kept)])
}

/// A touch was compared while the reader was being told to stop. A match is of no use to anybody
/// any more; a miss is charged all the same, or else cancelling at the right moment would make
/// misses free.
func judgeLate(
    _ asking: Asking, _ reader: ReaderID, _ verdict: ScanVerdict, _ charges: UInt32
) -> EvaluationOutcome {
    guard asking.readers[reader] == .releasing, verdict == .missed else {
        return (.ending(asking, charges: charges), [])
    }
    return (.ending(asking, charges: charges + 1), [.charge])
}

extension Asking {
    func with(_ reader: ReaderID, _ phase: Phase) -> Asking {
        var copy = self
        if copy.readers[reader] != nil { copy.readers[reader] = phase }
        // Whatever comes next on this reader is another touch.
        copy.touched.remove(reader)
        return copy
    }

    /// As if the reader's scan were not over yet, if it is still wanted.
    func scanning(_ reader: ReaderID) -> Asking {
        readers[reader] == .resting ? with(reader, .scanning) : self
    }

    func without(_ reader: ReaderID) -> Asking {
        var copy = self
        copy.readers[reader] = nil
        copy.dropTouches { $0 == reader }
        return copy
    }

    /// Notes what a reader says while it is being released: a miss is no less a miss.
    func notingLate(_ reader: ReaderID, _ verdict: ScanVerdict) -> Asking {
        guard readers[reader] == .releasing, verdict == .missed else { return self }
        var copy = self
        copy.lateMisses += 1
        return copy
    }

    /// The misses that this evaluation may still have.
    func attemptsLeft(_ terms: EvaluationTerms) -> UInt32 {
        min(missesToLockout, terms.missesAllowed - min(misses, terms.missesAllowed))
    }

    mutating func releaseAll() -> [EvaluationEffect] {
        let active = active
        for reader in active { readers[reader] = .releasing }
        dropTouches { _ in true }
        return active.map { .release($0) }
    }

    /// Touches that will not be taken up; the misses among them are charged all the same.
    mutating func dropTouches(_ isDropped: (ReaderID) -> Bool) {
        lateMisses += UInt32(
            waiting.count { isDropped($0.reader) && $0.verdict == .missed })
        waiting.removeAll { isDropped($0.reader) }
    }
}
