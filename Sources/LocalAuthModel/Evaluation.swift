// SPDX-License-Identifier: Apache-2.0

/// Where an evaluation stands.
package enum EvaluationState: Hashable, Sendable {
    /// May this caller ask at all? Goes to `queued` or `finished`.
    case admitting
    /// Waits for its turn. Goes to `preparing` or `finished`.
    case queued
    /// It is its turn; prints are loaded. Goes to `presenting`, `asking` or `finished`.
    case preparing
    /// An agent is told to show the prompt, and no reader is armed before it does. Goes to `asking`
    /// or `finished`.
    case presenting(EvaluationOffer)
    /// Readers are armed, a password is waited for, or both. Goes to `charging`, `confirming` or
    /// `ending`.
    case asking(Asking)
    /// A miss is being written down, and nobody knows of it yet. Goes to `asking`, `confirming` or
    /// `ending`.
    case charging(Asking)
    /// A match or the right password; the caller and the session are looked at again. Goes to
    /// `ending` or `finished`.
    case confirming(Asking)
    /// Answered, but readers have not let go yet, or so many charges are not written yet. Goes to
    /// `finished`.
    case ending(Asking, charges: UInt32)
    /// Over. Goes nowhere.
    case finished
}

/// What an evaluation can ask for when its turn has come.
package struct EvaluationOffer: Hashable, Sendable {
    /// The readers that hold prints of the user; none where a finger is of no use.
    package var readers: [ReaderID]
    /// Misses that are left before the user is locked out.
    package var attemptsLeft: UInt32
    /// Whether an agent shows a prompt.
    package var hasPrompt: Bool
    package var password: PasswordOffer

    package init(
        readers: [ReaderID], attemptsLeft: UInt32, hasPrompt: Bool = false,
        password: PasswordOffer = .refused(.notInteractive)
    ) {
        self.readers = readers
        self.attemptsLeft = attemptsLeft
        self.hasPrompt = hasPrompt
        self.password = password
    }
}

/// Whether a password can be entered.
package enum PasswordOffer: Hashable, Sendable {
    case taken
    /// It cannot; where nothing but the password is left, this is the ending.
    case refused(EvaluationError)
}

/// Names one entry of a password.
package struct SubmissionID: Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// What is known while the user is asked.
package struct Asking: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        case opening
        case scanning
        /// The scan is over; whether there is another one is being decided.
        case resting
        case releasing
    }

    package enum Password: Hashable, Sendable {
        case refused(EvaluationError)
        case awaited
        case checking(SubmissionID)
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
    /// Misses that readers found while they were being released, not charged yet.
    package var lateMisses: UInt32 = 0
    package var password: Password
    package var wrongPasswords: UInt32 = 0
    /// What a password came to while a miss was being charged.
    package var waitingVerdict: PasswordVerdict?

    package struct Touch: Hashable, Sendable {
        package var reader: ReaderID
        package var verdict: ScanVerdict
        package init(reader: ReaderID, verdict: ScanVerdict) {
            self.reader = reader
            self.verdict = verdict
        }
    }

    package init(_ offer: EvaluationOffer) {
        missesToLockout = offer.attemptsLeft
        for reader in offer.readers { readers[reader] = .opening }
        password =
            switch offer.password {
            case .taken: .awaited
            case .refused(let error): .refused(error)
            }
    }

    /// The readers that may still give a verdict.
    package var active: [ReaderID] {
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
    /// The prints are loaded, and it is known what can be asked for.
    case prepared(EvaluationOffer)
    /// The agent shows the prompt.
    case presented
    case opened(ReaderID)
    case sensed(ReaderID, SensorState)
    case judged(ReaderID, ScanVerdict)
    case failed(ReaderID, ReaderFailure)
    /// The reader is closed and idle.
    case released(ReaderID)
    /// The miss is on disk. `attemptsLeft` counts to the lockout; 0 means locked.
    case charged(attemptsLeft: UInt32)
    /// The prompt's fallback button.
    case fallbackChosen
    /// Something was entered where the password belongs.
    case passwordSubmitted(SubmissionID)
    /// The check of it wants one more thing to be entered.
    case passwordQuestioned(SubmissionID)
    case passwordJudged(SubmissionID, PasswordVerdict)
    /// The caller is still who and where it was; while it is being admitted: and an earlier success
    /// of it is accepted.
    case confirmed
    /// Cancel, time-out, a vanished caller or agent, suspend, shutdown.
    case interrupted(EvaluationError)
    /// Readers have had long enough to let go.
    case overdue
}

/// What an evaluation wants done.
package enum EvaluationEffect: Hashable, Sendable {
    /// Ask whether the caller may: `admitted`, `confirmed` or `refused`.
    case admit
    /// Wait in line: `turnCame`.
    case queue
    /// Load the prints: `prepared` or `refused`.
    case prepare
    /// Have the prompt shown: `presented`.
    case present(PromptView)
    /// The prompt is to show something else.
    case show(PromptView)
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
    /// Have what was entered checked, or given to the check that asked for it: `passwordJudged` or
    /// `passwordQuestioned`.
    case check(SubmissionID)
    /// Tell the agent what an entry came to, and how many more may be wrong.
    case answerEntry(SubmissionID, isAccepted: Bool, left: UInt32)
    /// It is the user. Look at caller and session again, and forget the misses: `confirmed` or
    /// `refused`.
    case confirm(Proof)
    case tellRetry(RetryCause?, attemptsLeft: UInt32)
    case tellProgress(EvaluationProgress)
    /// Answer the call; `nil` is success. Happens once.
    case answer(EvaluationError?)
    /// These readers do not let go, and nobody is to wait for them: the next in line may begin.
    case yield([ReaderID])
    /// The next in line may begin, and nothing of this one is left.
    case leave
}

/// What shows that it is the user.
package enum Proof: Hashable, Sendable {
    /// The finger is the one of this print.
    case finger(PrintID)
    case password
}

/// What a prompt shows that can change.
package struct PromptView: Hashable, Sendable {
    /// Whether a finger is wanted.
    package var wantsFinger: Bool
    /// Whether a password is taken.
    package var takesPassword: Bool
    /// Misses that are left.
    package var attemptsLeft: UInt32
    /// Wrong passwords that are left.
    package var passwordsLeft: UInt32

    package init(
        wantsFinger: Bool, takesPassword: Bool, attemptsLeft: UInt32, passwordsLeft: UInt32
    ) {
        self.wantsFinger = wantsFinger
        self.takesPassword = takesPassword
        self.attemptsLeft = attemptsLeft
        self.passwordsLeft = passwordsLeft
    }
}

/// What `Progress` tells.
package enum EvaluationProgress: String, Hashable, Sendable {
    case queued
    case waitingForFinger = "waiting-for-finger"
    case fingerOnSensor = "finger-on-sensor"
    case matching
    case waitingForPassword = "waiting-for-password"
    case finished
}

/// What an evaluation is held to.
package struct EvaluationTerms: Hashable, Sendable {
    package var requirement: Requirement
    package var missesAllowed: UInt32
    /// Bad scans after which it is plain that the reader cannot read this finger.
    package var badScansAllowed: UInt32
    package var passwordsAllowed: UInt32
    /// Whether the prompt has a fallback button. Without one a password is taken only when a finger
    /// is of no use (any more).
    package var hasFallback: Bool

    package init(
        _ requirement: Requirement, missesAllowed: UInt32, badScansAllowed: UInt32 = 50,
        passwordsAllowed: UInt32 = 3, hasFallback: Bool = true
    ) {
        self.requirement = requirement
        self.missesAllowed = missesAllowed
        self.badScansAllowed = badScansAllowed
        self.passwordsAllowed = passwordsAllowed
        self.hasFallback = hasFallback
    }
}
