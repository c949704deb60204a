// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import LocalAuthContract

extension LAError {
    /// The key in `userInfo` of what the service, the bus or this module said: a sentence in
    /// English, for developers.
    static let debugDescriptionKey = "NSDebugDescription"
    /// The key in `userInfo` of the D-Bus name of the error.
    static let serviceErrorKey = "LAServiceErrorName"

    /// The D-Bus name of the error that the service or the bus answered with, such as
    /// `org.example.LocalAuth.Error.ReaderBusy`; `nil` where neither of them did.
    ///
    /// The service tells more apart than Apple's codes do. Its errors are listed in
    /// `dbus/org.example.LocalAuth.xml`. Only on Linux.
    public var serviceErrorName: String? { userInfo[Self.serviceErrorKey] as? String }

    /// An error of this module's own.
    ///
    /// - Parameters:
    ///   - code: what has happened.
    ///   - text: a sentence for people; `nil` for the one that goes with the code.
    ///   - detail: a sentence for developers.
    ///   - name: the D-Bus name of the error behind it.
    init(_ code: Code, _ text: String? = nil, detail: String, name: ErrorName? = nil) {
        var userInfo: [String: Any] = [Self.debugDescriptionKey: detail]
        userInfo[NSLocalizedDescriptionKey] = text
        userInfo[Self.serviceErrorKey] = name?.rawValue
        self.init(code, userInfo: userInfo)
    }

    /// What an error from the bus means to an application. Every error has an answer.
    package init(_ error: BusError) {
        if let known = ServiceError(error.name) {
            let (code, text) = Self.meaning(of: known)
            self.init(code, text, detail: error.message, name: error.name)
            return
        }
        let (code, text) = Self.meaning(of: error)
        self.init(code, text, detail: error.message, name: error.name)
    }

    /// The code for one of the service's errors, and the sentence where the code's own says less.
    private static func meaning(of error: ServiceError) -> (Code, String?) {
        switch error {
        case .authenticationFailed: (.authenticationFailed, nil)
        case .userCancel: (.userCancel, nil)
        case .userFallback: (.userFallback, nil)
        case .systemCancel: (.systemCancel, nil)
        case .passcodeNotSet: (.passcodeNotSet, nil)
        case .biometryNotAvailable: (.biometryNotAvailable, nil)
        case .biometryNotEnrolled: (.biometryNotEnrolled, nil)
        case .biometryLockout: (.biometryLockout, nil)
        case .appCancel: (.appCancel, nil)
        case .biometryDisconnected: (.biometryDisconnected, nil)
        case .notInteractive: (.notInteractive, nil)
        case .timeout: (.systemCancel, localized("Nobody answered in time."))
        case .domainStateChanged:
            (.authenticationFailed, localized("The enrolled fingers have changed."))
        case .readerBusy:
            (
                .biometryNotAvailable,
                localized("Another program is using the fingerprint reader.")
            )
        case .notAuthorized:
            (.notInteractive, localized("This program may not ask for authentication."))
        case .accountUnavailable:
            (.authenticationFailed, localized("The account is locked or has expired."))
        case .passwordNotAvailable:
            (.notInteractive, localized("The password cannot be checked now."))
        case .ticketInvalid: (.authenticationFailed, localized("The ticket is not valid."))
        // Of calls that this module does not make.
        case .agentExists, .noSuchPrompt, .fingerAlreadyEnrolled, .noSuchFinger,
            .readerStorageFull, .leftoverPrints, .storageFailed, .enrollmentFailed:
            (.biometryNotAvailable, nil)
        }
    }

    /// The same for what the bus says and D-Bus libraries say.
    private static func meaning(of error: BusError) -> (Code, String?) {
        switch error.name {
        case .invalidArgs: (.notInteractive, localized("The request is not valid."))
        case .limitsExceeded:
            (.systemCancel, localized("Too many authentications are waiting."))
        case .accessDenied:
            (.notInteractive, localized("This program may not ask for authentication."))
        case .noReply:
            (.biometryNotAvailable, localized("The LocalAuth service did not answer."))
        case .serviceUnknown, .nameHasNoOwner, .serviceNotFound:
            (
                .biometryNotAvailable,
                localized(
                    "The LocalAuth service is not installed. Install the package \"localauth\".")
            )
        default:
            (.biometryNotAvailable, localized("The LocalAuth service cannot be reached."))
        }
    }

    /// One of the service's errors that this module finds out by itself.
    init(_ error: ServiceError) {
        self.init(BusError(error.name, "found out by the client library"))
    }

    /// What the end of the bus, or the service's leaving it, is to an evaluation that was waiting.
    static func ended(_ error: BusError) -> LAError {
        switch error.name {
        case .disconnected, .noReply:
            LAError(.systemCancel, detail: error.message, name: error.name)
        default: LAError(error)
        }
    }
}

// What this module finds out by itself.
extension LAError {
    /// No answer within the time that an answer takes at most.
    static let unanswered = LAError(BusError(.noReply, "no answer in time"))

    /// No end within the time that an evaluation takes at most.
    static let overdue = LAError(
        .systemCancel, localized("The LocalAuth service did not answer."),
        detail: "the service has not kept its time limit")

    /// The context was invalidated before.
    static let invalid = LAError(.invalidContext, detail: "the context has been invalidated")

    /// Policies that need another device.
    static let noCompanion = LAError(
        .companionNotAvailable, detail: "there are no companions on Linux")

    /// Apple's systems raise an exception here, which nobody can catch in Swift.
    static let noReason = LAError(
        .notInteractive, localized("A reason to show to the user is missing."),
        detail: "localizedReason must not be empty")
}

extension ErrorName {
    fileprivate static let accessDenied: Self = "org.freedesktop.DBus.Error.AccessDenied"
    fileprivate static let serviceNotFound: Self =
        "org.freedesktop.DBus.Error.Spawn.ServiceNotFound"
}
