// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// Every way in which managing prints can fail.
enum ManagementError: Error, Hashable, Sendable {
    /// Refused or interrupted in a way that evaluations know too.
    case evaluation(EvaluationError)
    case noSuchUser
    case fingerAlreadyEnrolled
    case noSuchFinger
    case readerStorageFull
    /// Prints of the user that only the reader has are in the way.
    case leftoverPrints
    case storageFailed
    case enrollmentFailed
    /// The reader has no memory of its own, or none that can be emptied.
    case notSupported

    /// What a reader's failure while enrolling or deleting means to the caller.
    init(_ failure: ReaderFailure) {
        self =
            switch failure {
            case .duplicate: .fingerAlreadyEnrolled
            case .storageFull: .readerStorageFull
            case .io, .notSupported, .noUsablePrints, .notOnReader: .enrollmentFailed
            case .removed, .busy, .tooHot, .cancelled, .inaccessible:
                .evaluation(EvaluationError(failure))
            }
    }

    /// The error as it crosses the bus.
    var busError: BusError {
        switch self {
        case .evaluation(let error): error.busError
        case .noSuchUser: BusError(.invalidArgs, "There is no such user.")
        case .fingerAlreadyEnrolled:
            BusError(ServiceError.fingerAlreadyEnrolled.name, "This finger is enrolled already.")
        case .noSuchFinger:
            BusError(ServiceError.noSuchFinger.name, "No such finger is enrolled.")
        case .readerStorageFull:
            BusError(ServiceError.readerStorageFull.name, "The reader's memory is full.")
        case .leftoverPrints:
            BusError(
                ServiceError.leftoverPrints.name,
                "The reader's memory holds prints of this user that are unknown here and in the "
                    + "way. The option discard-leftovers deletes them.")
        case .storageFailed:
            BusError(ServiceError.storageFailed.name, "The prints on disk could not be changed.")
        case .notSupported:
            BusError(.notSupported, "The reader has no memory that can be erased.")
        case .enrollmentFailed:
            BusError(ServiceError.enrollmentFailed.name, "The finger could not be enrolled.")
        }
    }
}
