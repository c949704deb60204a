// SPDX-License-Identifier: Apache-2.0

internal import LocalAuthContract

/// What happens during an evaluation. Only on Linux.
///
/// Where the session has a prompt, that shows all this. Where it has none, an application can show
/// the user what is wanted.
public enum LAEvaluationEvent: Sendable, Hashable {
    /// How far the evaluation is.
    public enum Progress: String, Sendable, Hashable {
        /// Others are before it.
        case queued
        /// A finger is wanted on the reader.
        case waitingForFinger = "waiting-for-finger"
        /// A finger is on the reader.
        case fingerOnSensor = "finger-on-sensor"
        /// The finger is being compared.
        case matching
        /// Only a password is waited for.
        case waitingForPassword = "waiting-for-password"
        /// The reply follows.
        case finished
    }

    /// Why the user must touch the reader again.
    public enum RetryCause: String, Sendable, Hashable {
        /// It is not one of the user's fingers. The only cause that counts as a miss.
        case noMatch = "no-match"
        /// The finger was too short on the reader.
        case tooShort = "too-short"
        /// The finger was moved too fast.
        case tooFast = "too-fast"
        /// The finger did not lie in the middle.
        case notCentered = "not-centered"
        /// The finger is to be lifted first.
        case removeFinger = "remove-finger"
        /// The touch could not be read.
        case general
    }

    /// It has come so far.
    case progress(Progress)
    /// The user must touch the reader again. The evaluation ends after `attemptsLeft` more misses.
    case retry(RetryCause, attemptsLeft: Int)
    /// The user's biometry was locked, or is free again. `secondsLeft` is `nil` where waiting does
    /// not end the lockout.
    case lockout(isLockedOut: Bool, attemptsLeft: Int, secondsLeft: Int?)

    /// What a signal says; `nil` for a state that this version does not know.
    init?(_ signal: ProgressSignal.Arguments) {
        guard let progress = Progress(rawValue: signal.state) else { return nil }
        self = .progress(progress)
    }

    init(_ signal: RetrySignal.Arguments) {
        // Causes that come later are bad scans (dbus/org.example.LocalAuth.xml).
        self = .retry(
            RetryCause(rawValue: signal.cause) ?? .general,
            attemptsLeft: Int(signal.attemptsLeft))
    }

    init(_ signal: LockoutSignal.Arguments) {
        self = .lockout(
            isLockedOut: signal.lockedOut, attemptsLeft: Int(signal.attemptsLeft),
            secondsLeft: signal.secondsLeft == 0 ? nil : Int(signal.secondsLeft))
    }
}
