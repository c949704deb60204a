// SPDX-License-Identifier: Apache-2.0

/// Every way in which an evaluation can end other than with success.
///
/// "Error", "no" and "could not find out" are different cases and are never mixed.
package enum EvaluationError: Error, CaseIterable, Hashable, Sendable {
    /// The last allowed miss of this evaluation.
    case authenticationFailed
    case userCancel
    case userFallback
    /// Suspend, a switch of session, a lock, the service's shutdown.
    case systemCancel
    case passcodeNotSet
    case biometryNotAvailable
    case biometryNotEnrolled
    /// The same to programs: the reader compares in its own memory, which no longer has the user's
    /// prints.
    case printsNotOnReader
    case biometryLockout
    /// `Cancel`, or the caller left the bus.
    case appCancel
    /// Every reader that holds this user's prints is unplugged.
    case biometryDisconnected
    /// A prompt would be needed and is not possible or not allowed.
    case notInteractive
    case timeout
    case domainStateChanged
    /// Another program holds the reader.
    case readerBusy
    /// polkit said no.
    case notAuthorized
    /// The account is locked or has expired.
    case accountUnavailable
    /// The password could not be checked: PAM is broken or does not answer.
    case passwordNotAvailable
    /// Too many evaluations wait.
    case limitsExceeded

    /// The raw value of Apple's `LAError.Code` that stands for this ending.
    package var laErrorCode: Int32 {
        switch self {
        case .authenticationFailed, .domainStateChanged, .accountUnavailable: -1
        case .userCancel: -2
        case .userFallback: -3
        case .systemCancel, .timeout, .limitsExceeded: -4
        case .passcodeNotSet: -5
        case .biometryNotAvailable, .readerBusy: -6
        case .biometryNotEnrolled, .printsNotOnReader: -7
        case .biometryLockout: -8
        case .appCancel: -9
        case .biometryDisconnected: -13
        case .notInteractive, .notAuthorized, .passwordNotAvailable: -1004
        }
    }
}

extension EvaluationError {
    /// The one place where a reader's failure becomes a caller's answer.
    package init(_ failure: ReaderFailure) {
        self =
            switch failure {
            case .removed, .tooHot, .notSupported, .io, .duplicate, .storageFull, .inaccessible:
                .biometryNotAvailable
            case .busy: .readerBusy
            case .cancelled: .systemCancel
            case .noUsablePrints: .biometryNotEnrolled
            case .notOnReader: .printsNotOnReader
            }
    }
}
