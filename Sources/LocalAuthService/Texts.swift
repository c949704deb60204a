// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

// The sentences that go with codes. Programs go by the codes.

extension EvaluationError {
    /// The error as it crosses the bus.
    var busError: BusError { BusError(errorName, message) }

    private var errorName: ErrorName {
        switch self {
        case .authenticationFailed: ServiceError.authenticationFailed.name
        case .userCancel: ServiceError.userCancel.name
        case .userFallback: ServiceError.userFallback.name
        case .systemCancel: ServiceError.systemCancel.name
        case .passcodeNotSet: ServiceError.passcodeNotSet.name
        case .biometryNotAvailable: ServiceError.biometryNotAvailable.name
        case .biometryNotEnrolled, .printsNotOnReader: ServiceError.biometryNotEnrolled.name
        case .biometryLockout: ServiceError.biometryLockout.name
        case .appCancel: ServiceError.appCancel.name
        case .biometryDisconnected: ServiceError.biometryDisconnected.name
        case .notInteractive: ServiceError.notInteractive.name
        case .timeout: ServiceError.timeout.name
        case .domainStateChanged: ServiceError.domainStateChanged.name
        case .readerBusy: ServiceError.readerBusy.name
        case .notAuthorized: ServiceError.notAuthorized.name
        case .accountUnavailable: ServiceError.accountUnavailable.name
        case .passwordNotAvailable: ServiceError.passwordNotAvailable.name
        case .limitsExceeded: .limitsExceeded
        }
    }

    var message: String {
        switch self {
        case .authenticationFailed: "The finger did not match too often."
        case .userCancel: "Canceled by the user."
        case .userFallback: "The fallback was chosen."
        case .systemCancel: "Canceled by the system."
        case .passcodeNotSet: "The account has no usable password."
        case .biometryNotAvailable: "No fingerprint reader can be used now."
        case .biometryNotEnrolled: "No finger is enrolled on a reader that is present."
        case .printsNotOnReader:
            "The reader's memory has lost the enrolled fingers. Enroll them again."
        case .biometryLockout: "Biometry is locked out after too many misses."
        case .appCancel: "Canceled by the application."
        case .biometryDisconnected: "The reader with the enrolled fingers is not connected."
        case .notInteractive: "The user cannot be asked here and now."
        case .timeout: "Nobody answered in time."
        case .domainStateChanged: "The enrolled fingers have changed."
        case .readerBusy: "Another program uses the fingerprint reader."
        case .notAuthorized: "The system's policy does not allow this."
        case .accountUnavailable: "The account is locked or has expired."
        case .passwordNotAvailable: "The password cannot be checked now."
        case .limitsExceeded: "Too many evaluations are waiting."
        }
    }
}

extension RetryCause? {
    /// The cause as the `Retry` signal names it; `nil` is a finger that did not match.
    var wireName: String { self?.rawValue ?? "no-match" }

    var message: String {
        switch self {
        case nil: "The finger does not match. Try again."
        case .general: "The finger could not be read. Try again."
        case .tooShort: "The touch was too short. Try again."
        case .tooFast: "The movement was too fast. Try again."
        case .notCentered: "The finger was not in the middle. Try again."
        case .removeFinger: "Lift the finger, then try again."
        }
    }
}
