// SPDX-License-Identifier: Apache-2.0

/// Where an evaluation stands.
package enum EvaluationState: Hashable, Sendable {
    /// May this caller ask at all? Goes to `queued` or `finished`.
    case admitting
    /// Waits for its turn. Goes to `preparing` or `finished`.
    case queued
    /// It is its turn; prints are loaded. Goes to `scanning` or `finished`.
    case preparing
    /// Readers are armed. Goes to `charging`, `confirming` or `ending`.
    case scanning(Scanning)
    /// A miss is being written down, and nobody knows of it yet. Goes to `scanning`,
    /// `confirming` or `ending`.
    case charging(Scanning)
    /// A match; the caller and the session are looked at again. Goes to `ending` or `finished`.
    case confirming(Scanning)
    /// Answered, but readers have not let go yet, or so many charges are not written yet. Goes to
    /// `finished`.
    case ending(Scanning, charges: UInt32)
    /// Over. Goes nowhere.
    case finished
}

/// What is known while readers are armed.
package struct Scanning: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        case opening
        case scanning
        /// The scan is over; whether there is another one is being decided.
        case resting
        case releasing
    }

    /// Every reader that has not let go yet.
    package var readers: [ReaderID: Phase] = [:]
    /// The readers that a finger has been on during their present scan.
    package var touched: Set<ReaderID> = []
    package var misses: UInt32 = 0
    /// Misses that are left before the user is locked out.
    package var missesToLockout: UInt32
    package var badScans: UInt32 = 0
    /// Touches on other readers while a miss was being charged, in order.
    package var waiting: [Touch] = []

    package struct Touch: Hashable, Sendable {
        package var reader: ReaderID
        package var verdict: ScanVerdict
        package init(reader: ReaderID, verdict: ScanVerdict) {
            self.reader = reader
            self.verdict = verdict
        }
    }

    package init(missesToLockout: UInt32) { self.missesToLockout = missesToLockout }

    /// The readers that may still give a verdict.
    var active: [ReaderID] {
        readers.filter { $0.value != .releasing }.keys.sorted { $0.number < $1.number }
    }
}

/// What can happen to an evaluation.
package enum EvaluationEvent: Hashable, Sendable {
    /// The caller may ask, and everything is there to begin with.
    case admitted
    /// Not allowed, not possible (any more), or not confirmed.
    case refused(EvaluationError)
    /// Nobody is before it any more.
    case turnCame
    /// The prints are loaded; these readers have some. `attemptsLeft` counts to the lockout.
    case prepared([ReaderID], attemptsLeft: UInt32)
    case opened(ReaderID)
    case sensed(ReaderID, SensorState)
    case judged(ReaderID, ScanVerdict)
    case failed(ReaderID, ReaderFailure)
    /// The reader is closed and idle.
    case released(ReaderID)
    /// The miss is on disk. `attemptsLeft` counts to the lockout; 0 means locked.
    case charged(attemptsLeft: UInt32)
    /// The caller is still who and where it was.
    case confirmed
    /// Cancel, time-out, a vanished caller, suspend, shutdown.
    case interrupted(EvaluationError)
    /// Readers have had long enough to let go.
    case overdue
}

/// What an evaluation wants done.
package enum EvaluationEffect: Hashable, Sendable {
    /// Ask whether the caller may: `admitted` or `refused`.
    case admit
    /// Wait in line: `turnCame`.
    case queue
    /// Load the prints: `prepared` or `refused`.
    case prepare
    /// Open the reader: `opened` or `failed`.
    case open(ReaderID)
    /// Compare the next touch: `judged` or `failed`.
    case scan(ReaderID)
    /// The same after a short pause, so that the finger can be lifted.
    case scanAfterPause(ReaderID)
    /// Stop whatever the reader does and close it: `released`.
    case release(ReaderID)
    /// Write the miss down: `charged`.
    case charge
    /// The finger is the one of this print. Look at caller and session again, and forget the
    /// misses: `confirmed` or `refused`.
    case confirm(PrintID)
    case tellRetry(RetryCause?, attemptsLeft: UInt32)
    case tellProgress(EvaluationProgress)
    /// Answer the call; `nil` is success. Happens once.
    case answer(EvaluationError?)
    /// These readers do not let go, and nobody is to wait for them: the next in line may begin.
    case yield([ReaderID])
    /// The next in line may begin, and nothing of this one is left.
    case leave
}

/// What `Progress` tells.
package enum EvaluationProgress: String, Hashable, Sendable {
    case queued
    case waitingForFinger = "waiting-for-finger"
    case fingerOnSensor = "finger-on-sensor"
    case matching
    case finished
}

/// What an evaluation is held to.
package struct EvaluationTerms: Hashable, Sendable {
    package var policy: Policy
    package var missesAllowed: UInt32
    /// Bad scans after which it is plain that the reader cannot read this finger.
    package var badScansAllowed: UInt32

    package init(policy: Policy, missesAllowed: UInt32, badScansAllowed: UInt32 = 50) {
        self.policy = policy
        self.missesAllowed = missesAllowed
        self.badScansAllowed = badScansAllowed
    }
}
