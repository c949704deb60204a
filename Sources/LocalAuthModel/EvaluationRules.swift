// SPDX-License-Identifier: Apache-2.0

// The rules behind `step`, each for the states that its name says.

/// The prints are loaded: open every reader that has some.
func arm(_ readers: [ReaderID], _ attemptsLeft: UInt32) -> EvaluationOutcome {
    guard !readers.isEmpty else {
        return (.finished, [.answer(.biometryNotEnrolled), .leave])
    }
    var scan = Scanning(missesToLockout: attemptsLeft)
    for reader in readers { scan.readers[reader] = .opening }
    return (.scanning(scan), readers.map { .open($0) })
}

/// A reader is open.
func scanNow(_ scan: Scanning, _ reader: ReaderID) -> EvaluationOutcome {
    guard scan.readers[reader] == .opening else { return (.scanning(scan), []) }
    return (.scanning(scan.with(reader, .scanning)), [.scan(reader)])
}

func sensed(_ scan: Scanning, _ reader: ReaderID, _ sensor: SensorState) -> EvaluationOutcome {
    guard scan.readers[reader] == .scanning else { return (.scanning(scan), []) }
    var scan = scan
    let wasTouched = scan.touched.contains(reader)
    let progress: EvaluationProgress
    switch sensor {
    case .fingerPresent:
        scan.touched.insert(reader)
        progress = .fingerOnSensor
    // Drivers go on to say that they need a finger until they have compared the touch.
    case .fingerNeeded: progress = wasTouched ? .matching : .waitingForFinger
    case .idle where wasTouched: progress = .matching
    case .idle: return (.scanning(scan), [])
    }
    return (.scanning(scan), [.tellProgress(progress)])
}

/// A touch has been compared. Only a reader that was scanning can say so: a scan answers once.
func judge(
    _ scan: Scanning, _ reader: ReaderID, _ verdict: ScanVerdict, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    guard scan.readers[reader] == .scanning else { return (.scanning(scan), []) }
    var scan = scan.with(reader, .resting)
    switch verdict {
    case .matched(let print):
        let releases = scan.releaseAll()
        return (.confirming(scan), releases + [.confirm(print)])
    case .missed:
        scan.misses += 1
        return (.charging(scan), [.charge])
    case .badScan(let cause):
        scan.badScans += 1
        guard scan.badScans < terms.badScansAllowed else {
            return end(scan, .biometryNotAvailable)
        }
        return (
            .scanning(scan.with(reader, .scanning)),
            [.tellRetry(cause, attemptsLeft: scan.attemptsLeft(terms)), .scanAfterPause(reader)]
        )
    }
}

/// A reader is lost; the others go on.
func lose(_ scan: Scanning, _ reader: ReaderID, _ failure: ReaderFailure) -> EvaluationOutcome {
    guard let phase = scan.readers[reader], phase != .releasing else {
        return (.scanning(scan), [])
    }
    let scan = scan.with(reader, .releasing)
    guard scan.active.isEmpty else { return (.scanning(scan), [.release(reader)]) }
    let (state, effects) = end(scan, EvaluationError(failure))
    return (state, [.release(reader)] + effects)
}

/// The miss is on disk, so that now it may be told.
func afterCharge(
    _ scan: Scanning, _ attemptsLeft: UInt32, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    guard attemptsLeft > 0 else { return end(scan, .biometryLockout) }
    guard scan.misses < terms.missesAllowed else { return end(scan, .authenticationFailed) }
    guard !scan.active.isEmpty else { return end(scan, .biometryNotAvailable) }
    var scan = scan
    scan.missesToLockout = attemptsLeft
    var effects: [EvaluationEffect] = [
        .tellRetry(nil, attemptsLeft: scan.attemptsLeft(terms))
    ]
    let waiting = scan.waiting
    scan.waiting = []
    for reader in scan.active where scan.readers[reader] == .resting {
        guard !waiting.contains(where: { $0.reader == reader }) else { continue }
        scan.readers[reader] = .scanning
        effects.append(.scan(reader))
    }
    // Touches that came meanwhile are taken up in their order, as if they came now.
    var state = EvaluationState.scanning(scan)
    for touch in waiting {
        let next: EvaluationOutcome
        switch state {
        case .scanning(let scan):
            next = judge(
                scan.with(touch.reader, .scanning), touch.reader, touch.verdict, terms)
        case .charging(let scan):
            next = keep(scan.with(touch.reader, .scanning), touch.reader, touch.verdict)
        case .admitting, .queued, .preparing, .confirming, .ending, .finished: next = (state, [])
        }
        state = next.state
        effects += next.effects
    }
    return (state, effects)
}

/// A reader is open while a miss of another one is being charged.
func scanMeanwhile(_ scan: Scanning, _ reader: ReaderID) -> EvaluationOutcome {
    let (_, effects) = scanNow(scan, reader)
    return (.charging(effects.isEmpty ? scan : scan.with(reader, .scanning)), effects)
}

/// The sensor says something while a miss of another reader is being charged: noted, and told
/// with what it says next.
func senseMeanwhile(
    _ scan: Scanning, _ reader: ReaderID, _ sensor: SensorState
) -> EvaluationOutcome {
    var scan = scan
    if scan.readers[reader] == .scanning, sensor == .fingerPresent { scan.touched.insert(reader) }
    return (.charging(scan), [])
}

/// Keeps a touch that comes while a miss is being charged.
func keep(_ scan: Scanning, _ reader: ReaderID, _ verdict: ScanVerdict) -> EvaluationOutcome {
    guard scan.readers[reader] == .scanning else { return (.charging(scan), []) }
    var scan = scan.with(reader, .resting)
    scan.waiting.append(Scanning.Touch(reader: reader, verdict: verdict))
    return (.charging(scan), [])
}

/// A reader is lost while a miss is being charged; what follows is decided after the charge.
func loseMeanwhile(_ scan: Scanning, _ reader: ReaderID) -> EvaluationOutcome {
    guard let phase = scan.readers[reader], phase != .releasing else {
        return (.charging(scan), [])
    }
    var scan = scan.with(reader, .releasing)
    scan.waiting.removeAll { $0.reader == reader }
    return (.charging(scan), [.release(reader)])
}

/// Answers, and waits for what is still going on.
func end(
    _ scan: Scanning, _ error: EvaluationError?, charges: UInt32 = 0
) -> EvaluationOutcome {
    var scan = scan
    let releases = scan.releaseAll()
    // Touches that were not taken up any more: misses among them are charged all the same.
    let late = scan.waiting.count { $0.verdict == .missed }
    scan.waiting = []
    let (state, settled) = settle(scan, charges + UInt32(late))
    let effects = Array(repeating: EvaluationEffect.charge, count: late) + settled
    return (state, [.tellProgress(.finished), .answer(error)] + releases + effects)
}

/// Over, if nothing is still going on.
func settle(_ scan: Scanning, _ charges: UInt32) -> EvaluationOutcome {
    guard scan.readers.isEmpty, charges == 0 else {
        return (.ending(scan, charges: charges), [])
    }
    return (.finished, [.leave])
}

/// A driver that never lets go would otherwise keep everybody from every reader. What it still
/// says is heard all the same.
func yieldTurn(_ scan: Scanning, _ charges: UInt32) -> EvaluationOutcome {
    let kept = scan.readers.keys.sorted { $0.number < $1.number }
    return (.ending(scan, charges: charges), kept.isEmpty ? [] : [.yield(kept)])
}

/// A touch was compared while the reader was being told to stop. A match is of no use to anybody
/// any more; a miss is charged all the same, or else cancelling at the right moment would make
/// misses free.
func judgeLate(
    _ scan: Scanning, _ reader: ReaderID, _ verdict: ScanVerdict, _ charges: UInt32
) -> EvaluationOutcome {
    guard scan.readers[reader] == .releasing, verdict == .missed else {
        return (.ending(scan, charges: charges), [])
    }
    return (.ending(scan, charges: charges + 1), [.charge])
}

extension Scanning {
    func with(_ reader: ReaderID, _ phase: Phase) -> Scanning {
        var copy = self
        if copy.readers[reader] != nil { copy.readers[reader] = phase }
        // Whatever comes next on this reader is another touch.
        copy.touched.remove(reader)
        return copy
    }

    func without(_ reader: ReaderID) -> Scanning {
        var copy = self
        copy.readers[reader] = nil
        copy.waiting.removeAll { $0.reader == reader }
        return copy
    }

    /// The misses that this evaluation may still have.
    func attemptsLeft(_ terms: EvaluationTerms) -> UInt32 {
        min(missesToLockout, terms.missesAllowed - min(misses, terms.missesAllowed))
    }

    mutating func releaseAll() -> [EvaluationEffect] {
        let active = active
        for reader in active { readers[reader] = .releasing }
        return active.map { .release($0) }
    }
}
