// SPDX-License-Identifier: Apache-2.0

// The rules behind `step` that are about the password and the prompt's buttons.

extension EvaluationState {
    /// Whether a password is taken now.
    package func takesPassword(_ terms: EvaluationTerms) -> Bool {
        asking?.takesPassword(terms) ?? false
    }

    /// Whether one is being checked.
    package var isCheckingPassword: Bool {
        if case .checking? = asking?.password { true } else { false }
    }

    /// Whether the fallback button does something now.
    package func takesFallback(_ terms: EvaluationTerms) -> Bool {
        guard let asking, terms.hasFallback else { return false }
        // Where only the password is left it would lead nowhere.
        return terms.requirement == .finger
            || (asking.canTakePassword(terms) && !asking.active.isEmpty)
    }

    private var asking: Asking? {
        switch self {
        case .asking(let asking), .charging(let asking): asking
        case .presenting(let offer): Asking(offer)
        case .admitting, .queued, .preparing, .confirming, .ending, .finished: nil
        }
    }
}

/// The fallback button: the end under policy 1; under policy 2 a finger is not asked for any more.
func fallBack(_ asking: Asking, _ terms: EvaluationTerms) -> EvaluationOutcome {
    guard terms.hasFallback else { return (.asking(asking), []) }
    guard terms.requirement != .finger else { return end(asking, .userFallback) }
    guard asking.canTakePassword(terms), !asking.active.isEmpty else {
        return (.asking(asking), [])
    }
    return giveUpFingers(asking, .biometryNotAvailable, terms)
}

/// The same while a miss is being charged; what follows from that is decided after the charge.
func fallBackMeanwhile(_ asking: Asking, _ terms: EvaluationTerms) -> EvaluationOutcome {
    guard terms.hasFallback else { return (.charging(asking), []) }
    guard terms.requirement != .finger else { return end(asking, .userFallback, charges: 1) }
    guard asking.canTakePassword(terms) else { return (.charging(asking), []) }
    var asking = asking
    let releases = asking.releaseAll()
    return (.charging(asking), releases)
}

/// Something was entered.
func submit(
    _ asking: Asking, _ entry: SubmissionID, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    guard asking.takesPassword(terms), asking.password == .awaited else {
        return (.asking(asking), [])
    }
    var asking = asking
    asking.password = .checking(entry)
    return (.asking(asking), [.check(entry)])
}

/// The check wants one more thing to be entered before it says anything.
func question(
    _ asking: Asking, _ entry: SubmissionID, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    guard asking.password == .checking(entry) else { return (.asking(asking), []) }
    var asking = asking
    asking.password = .awaited
    return (
        .asking(asking),
        [.answerEntry(entry, isAccepted: false, left: asking.passwordsLeft(terms))]
    )
}

/// What was entered has been checked. Only an entry that was being checked can be said so of.
func judge(
    _ asking: Asking, _ entry: SubmissionID, _ verdict: PasswordVerdict, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    guard asking.password == .checking(entry) else { return (.asking(asking), []) }
    var asking = asking
    asking.password = .awaited
    func told(_ outcome: EvaluationOutcome, left: UInt32 = 0) -> EvaluationOutcome {
        let answer = EvaluationEffect.answerEntry(
            entry, isAccepted: verdict == .correct, left: left)
        return (outcome.state, [answer] + outcome.effects)
    }
    switch verdict {
    case .correct:
        return told(confirm(.password, asking), left: asking.passwordsLeft(terms))
    case .empty: return told((.asking(asking), []), left: asking.passwordsLeft(terms))
    case .wrong:
        asking.wrongPasswords += 1
        let left = asking.passwordsLeft(terms)
        guard left > 0 else { return told(end(asking, .authenticationFailed)) }
        return told((.asking(asking), [.show(asking.view(terms))]), left: left)
    case .triesUsedUp: return told(end(asking, .authenticationFailed))
    case .accountUnavailable: return told(end(asking, .accountUnavailable))
    case .notSet: return told(refusePasswords(asking, .passcodeNotSet, terms))
    case .unavailable: return told(refusePasswords(asking, .passwordNotAvailable, terms))
    }
}

/// No password can be taken any more; a finger can, if one was wanted.
private func refusePasswords(
    _ asking: Asking, _ error: EvaluationError, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    var asking = asking
    asking.password = .refused(error)
    guard !asking.active.isEmpty else { return end(asking, error) }
    return (.asking(asking), [.show(asking.view(terms))])
}

/// Keeps what a password came to while a miss is being charged: the miss comes first.
func keep(
    _ asking: Asking, _ entry: SubmissionID, _ verdict: PasswordVerdict
) -> EvaluationOutcome {
    guard asking.password == .checking(entry) else { return (.charging(asking), []) }
    var asking = asking
    asking.waitingVerdict = verdict
    return (.charging(asking), [])
}

/// Takes up what was kept, where the evaluation goes on.
func takeUpVerdict(
    _ outcome: EvaluationOutcome, _ terms: EvaluationTerms
) -> EvaluationOutcome {
    guard case .asking(var asking) = outcome.state, let verdict = asking.waitingVerdict,
        case .checking(let entry) = asking.password
    else { return outcome }
    asking.waitingVerdict = nil
    let (state, effects) = judge(asking, entry, verdict, terms)
    return (state, outcome.effects + effects)
}

/// What an event does that is answered alike while a miss is being charged.
func meanwhile(_ outcome: EvaluationOutcome) -> EvaluationOutcome {
    guard case .asking(let asking) = outcome.state else { return outcome }
    return (.charging(asking), outcome.effects)
}

extension Asking {
    /// Whether a password could help, now or when a finger is of no use any more.
    func canTakePassword(_ terms: EvaluationTerms) -> Bool {
        guard terms.requirement != .finger else { return false }
        if case .refused = password { return false }
        return true
    }

    /// Whether a password is taken now. Without the button that leads to it, not beside a finger.
    func takesPassword(_ terms: EvaluationTerms) -> Bool {
        canTakePassword(terms) && (terms.hasFallback || active.isEmpty)
    }

    func passwordsLeft(_ terms: EvaluationTerms) -> UInt32 {
        terms.passwordsAllowed - min(wrongPasswords, terms.passwordsAllowed)
    }

    func view(_ terms: EvaluationTerms) -> PromptView {
        PromptView(
            wantsFinger: !active.isEmpty, takesPassword: takesPassword(terms),
            attemptsLeft: attemptsLeft(terms), passwordsLeft: passwordsLeft(terms))
    }

    /// The ending when a finger is of no use. Where the password would do as well, it says why
    /// there is none.
    func ending(_ error: EvaluationError, _ terms: EvaluationTerms) -> EvaluationError {
        guard terms.requirement != .finger, error.isAboutBiometry,
            case .refused(let obstacle) = password
        else { return error }
        return obstacle
    }
}

extension EvaluationError {
    /// Whether it says why no finger can be used.
    package var isAboutBiometry: Bool {
        switch self {
        case .biometryNotAvailable, .biometryNotEnrolled, .printsNotOnReader, .biometryLockout,
            .biometryDisconnected, .readerBusy:
            true
        case .authenticationFailed, .userCancel, .userFallback, .systemCancel, .passcodeNotSet,
            .appCancel, .notInteractive, .timeout, .domainStateChanged, .notAuthorized,
            .accountUnavailable, .passwordNotAvailable, .limitsExceeded:
            false
        }
    }

    /// Whether the password can be used all the same, as on a telephone: also after the last miss
    /// of a finger.
    var leavesPassword: Bool { isAboutBiometry || self == .authenticationFailed }
}
