// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel

/// What surrounds an evaluation: it does what the effects want, in any order and with any
/// outcome, and knows which effects would be wrong.
struct World: Hashable {
    enum Reader: Hashable {
        case untouched
        case opening
        case open
        case scanning
        /// Its work has failed, and it has not been let go of.
        case broken
        case lettingGo(stillWorks: Bool)
        case released
    }

    /// An effect that must not be.
    struct Wrong: Error, Hashable {
        let what: String
        init(_ what: String) { self.what = what }
    }

    var readers: [Reader]
    /// Misses that may still be made before the lockout.
    var attemptsLeft: UInt32
    var isAdmitting = false
    var isInLine = false
    var isPreparing = false
    /// Charges that are not written down yet.
    var openCharges: UInt32 = 0
    var isConfirming = false
    var charges: UInt32 = 0
    /// Misses that readers have found, and whether one has found a match.
    var misses: UInt32 = 0
    var wasMatched = false
    var wasConfirmed = false
    var wasAnswered = false
    var hasLeft = false
    /// Whether an agent is there, and with it the password.
    let hasAgent: Bool
    var isPresenting = false
    var isPresented = false
    /// Whether an entry is being checked; there is at most one, and `entry` is its name.
    var isChecking = false
    var wrongPasswords: UInt32 = 0
    var wasPasswordRight = false

    static let entry = SubmissionID(1)

    init(readers: Int, attemptsLeft: UInt32, hasAgent: Bool = false) {
        self.readers = Array(repeating: .untouched, count: readers)
        self.attemptsLeft = attemptsLeft
        self.hasAgent = hasAgent
    }

    private var isAnythingOpen: Bool {
        readers.contains { $0 != .untouched && $0 != .released }
    }

    mutating func carryOut(_ effect: EvaluationEffect) throws(Wrong) {
        func must(_ isRight: Bool) throws(Wrong) {
            if !isRight { throw Wrong("\(effect) in \(self)") }
        }
        switch effect {
        case .admit: isAdmitting = true
        case .queue: isInLine = true
        case .prepare: isPreparing = true
        case .present:
            try must(hasAgent && !wasAnswered && !isPresented && !isAnythingOpen)
            isPresenting = true
        case .show(let view):
            try must(isPresented && !wasAnswered)
            try must(view.wantsFinger || view.takesPassword)
        case .check(let entry):
            try must(!wasAnswered && isPresented && !isChecking && entry == Self.entry)
            isChecking = true
        case .answerEntry(let entry, let isAccepted, _):
            try must(!wasAnswered && entry == Self.entry && isAccepted == wasPasswordRight)
        case .open(let reader):
            try must(!wasAnswered && self[reader] == .untouched && isPresented == hasAgent)
            self[reader] = .opening
        case .scan(let reader), .scanAfterPause(let reader):
            try must(!wasAnswered && self[reader] == .open)
            self[reader] = .scanning
        case .release(let reader):
            switch self[reader] {
            case .opening, .scanning: self[reader] = .lettingGo(stillWorks: true)
            case .open, .broken: self[reader] = .lettingGo(stillWorks: false)
            case .untouched, .lettingGo, .released: try must(false)
            }
        case .charge:
            // One after the other; only what was found too late is charged after the answer.
            try must(openCharges == 0 || wasAnswered)
            openCharges += 1
            charges += 1
            try must(charges <= misses)
        case .confirm(let proof):
            try must(!wasAnswered && !isConfirming && openCharges == 0)
            switch proof {
            case .finger: try must(wasMatched)
            case .password: try must(wasPasswordRight)
            }
            isConfirming = true
        case .tellRetry: try must(!wasAnswered && openCharges == 0)
        case .tellProgress: try must(!wasAnswered)
        case .answer(let error):
            try must(!wasAnswered)
            if error == nil { try must(wasConfirmed) }
            wasAnswered = true
        case .yield(let kept):
            try must(wasAnswered && !hasLeft && !kept.isEmpty)
            for reader in kept {
                if case .lettingGo = self[reader] { continue }
                try must(false)
            }
        case .leave:
            try must(wasAnswered && !hasLeft && openCharges == 0 && !isAnythingOpen)
            // No miss is free, whenever it was found; a success settles those beside it.
            try must(wasConfirmed || charges == misses)
            hasLeft = true
        }
    }

    /// What may happen next because something was wanted, each with the world after it.
    var happenings: [(event: EvaluationEvent, after: World)] {
        var result: [(EvaluationEvent, World)] = []
        func may(_ event: EvaluationEvent, _ change: (inout World) -> Void) {
            var after = self
            change(&after)
            result.append((event, after))
        }
        if isAdmitting {
            may(.admitted) { $0.isAdmitting = false }
            may(.confirmed) {
                $0.isAdmitting = false
                $0.wasConfirmed = true
            }
            may(.refused(.notAuthorized)) { $0.isAdmitting = false }
        }
        if isInLine {
            may(.turnCame) { $0.isInLine = false }
            may(.refused(.limitsExceeded)) { $0.isInLine = false }
        }
        if isPreparing {
            for count in 0...readers.count {
                let offer = EvaluationOffer(
                    readers: (0..<count).map { ReaderID(UInt32($0)) }, attemptsLeft: attemptsLeft,
                    hasPrompt: hasAgent, password: hasAgent ? .taken : .refused(.notInteractive))
                may(.prepared(offer)) { $0.isPreparing = false }
            }
            may(.refused(.biometryLockout)) { $0.isPreparing = false }
        }
        if openCharges > 0 {
            let left = attemptsLeft - min(attemptsLeft, 1)
            may(.charged(attemptsLeft: left)) {
                $0.openCharges -= 1
                $0.attemptsLeft = left
            }
        }
        if isConfirming {
            may(.confirmed) {
                $0.isConfirming = false
                $0.wasConfirmed = true
            }
            may(.refused(.systemCancel)) { $0.isConfirming = false }
        }
        for (event, change) in promptHappenings { may(event, change) }
        for number in readers.indices {
            let id = ReaderID(UInt32(number))
            for (event, reader) in readerHappenings(id) {
                may(event) { world in
                    world[id] = reader
                    world.note(event)
                }
            }
        }
        return result
    }

    private var promptHappenings: [(EvaluationEvent, (inout World) -> Void)] {
        guard !isPresenting else {
            return [
                (
                    .presented,
                    {
                        $0.isPresenting = false
                        $0.isPresented = true
                    }
                )
            ]
        }
        guard isPresented else { return [] }
        var result: [(EvaluationEvent, (inout World) -> Void)] = [(.fallbackChosen, { _ in })]
        guard isChecking else {
            return result + [(.passwordSubmitted(Self.entry), { _ in })]
        }
        result.append((.passwordQuestioned(Self.entry), { $0.isChecking = false }))
        for verdict in PasswordVerdict.allCases {
            result.append(
                (
                    .passwordJudged(Self.entry, verdict),
                    {
                        $0.isChecking = false
                        if verdict == .correct { $0.wasPasswordRight = true }
                        if verdict == .wrong { $0.wrongPasswords += 1 }
                    }
                ))
        }
        return result
    }

    private mutating func note(_ event: EvaluationEvent) {
        guard case .judged(_, let verdict) = event else { return }
        switch verdict {
        case .missed: misses += 1
        case .matched: wasMatched = true
        case .badScan: break
        }
    }

    private func readerHappenings(_ id: ReaderID) -> [(EvaluationEvent, Reader)] {
        switch self[id] {
        case .untouched, .broken, .released: []
        // Where it cannot be got at any more, it is lost with nothing going on.
        case .open: [(.failed(id, .inaccessible), .broken)]
        case .opening: [(.opened(id), .open), (.failed(id, .busy), .broken)]
        case .scanning:
            SensorState.allStates.map { (.sensed(id, $0), .scanning) }
                + ScanVerdict.samples.map { (.judged(id, $0), .open) }
                + [(.failed(id, .io), .broken)]
        // Work that was told to stop may still come to something, and may come to nothing.
        case .lettingGo(stillWorks: true):
            ScanVerdict.samples.map { (.judged(id, $0), .lettingGo(stillWorks: false)) }
                + [
                    (.opened(id), .lettingGo(stillWorks: false)),
                    (.failed(id, .cancelled), .lettingGo(stillWorks: false)),
                    (.released(id), .released),
                ]
        case .lettingGo(stillWorks: false): [(.released(id), .released)]
        }
    }

    private subscript(id: ReaderID) -> Reader {
        get { readers[Int(id.number)] }
        set { readers[Int(id.number)] = newValue }
    }
}

extension SensorState {
    static let allStates: [SensorState] = [.idle, .fingerNeeded, .fingerPresent]
}

extension ScanVerdict {
    static let samples: [ScanVerdict] = [.matched(.sample), .missed, .badScan(.tooShort)]
}
