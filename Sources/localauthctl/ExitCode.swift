// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

/// How the program ends. The numbers are a promise to scripts.
enum ExitCode: Int32, CaseIterable {
    case success = 0
    case no = 1
    case usage = 2
    case canceled = 3
    case timeout = 4
    case unavailable = 5
    case lockedOut = 6
    case notAllowed = 7
    case notReachable = 8
    case notManaged = 9
    case fallback = 10
    case unknown = 70
    case notWritten = 74

    /// One line of the table in `--help`.
    var meaning: String {
        switch self {
        case .success: "yes, or done"
        case .no: "no: neither finger nor password was right, or 'can' says no"
        case .usage: "wrong command line, or an argument that the service refuses"
        case .canceled: "canceled: by the user, the system, or Ctrl-C"
        case .timeout: "nobody answered in time"
        case .unavailable: "not possible now: no reader, nothing enrolled, reader busy, ..."
        case .lockedOut: "locked out after too many misses"
        case .notAllowed: "not authorized, or the user cannot be asked here and now"
        case .notReachable: "the service or the bus cannot be reached, or went away"
        case .notManaged: "the prints could not be changed: no such finger, ..."
        case .fallback: "the user chose the fallback button"
        case .unknown: "any other error"
        case .notWritten: "done, but the output could not be written"
        }
    }
}

extension ExitCode {
    /// The code for an error that came over the bus; every error has one.
    init(_ error: BusError) {
        if let known = ServiceError(error.name) {
            self.init(known)
        } else {
            self = Self.standard[error.name] ?? .unknown
        }
    }

    /// The code for one of the service's own errors.
    init(_ error: ServiceError) {
        self =
            switch error {
            case .authenticationFailed, .domainStateChanged, .ticketInvalid: .no
            case .userCancel, .systemCancel, .appCancel: .canceled
            case .userFallback: .fallback
            case .timeout: .timeout
            case .biometryNotAvailable, .biometryNotEnrolled, .biometryDisconnected, .readerBusy,
                .passcodeNotSet, .passwordNotAvailable, .agentExists:
                .unavailable
            case .biometryLockout: .lockedOut
            case .notInteractive, .notAuthorized, .accountUnavailable: .notAllowed
            case .noSuchPrompt: .unknown
            case .fingerAlreadyEnrolled, .noSuchFinger, .readerStorageFull, .leftoverPrints,
                .storageFailed, .enrollmentFailed:
                .notManaged
            }
    }

    /// What the bus and D-Bus libraries say. `noReply` is also what the bus answers for a service
    /// that leaves in the middle of a call.
    private static let standard: [ErrorName: ExitCode] = [
        .invalidArgs: .usage,
        .limitsExceeded: .unavailable,
        .noReply: .notReachable,
        .disconnected: .notReachable,
        .serviceUnknown: .notReachable,
        .nameHasNoOwner: .notReachable,
        // Something else has the name, or an older service.
        .unknownObject: .notReachable,
        .unknownInterface: .notReachable,
        .unknownMethod: .notReachable,
        "org.freedesktop.DBus.Error.AccessDenied": .notAllowed,
        "org.freedesktop.DBus.Error.AuthFailed": .notReachable,
        "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired": .notAllowed,
        "org.freedesktop.DBus.Error.NoServer": .notReachable,
        "org.freedesktop.DBus.Error.TimedOut": .notReachable,
        "org.freedesktop.DBus.Error.Timeout": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.ChildExited": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.ChildSignaled": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.ConfigInvalid": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.ExecFailed": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.Failed": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.FailedToSetup": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.FileInvalid": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.ForkFailed": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.NoMemory": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.PermissionsInvalid": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.ServiceNotFound": .notReachable,
        "org.freedesktop.DBus.Error.Spawn.ServiceNotValid": .notReachable,
        "org.freedesktop.systemd1.LoadFailed": .notReachable,
        "org.freedesktop.systemd1.NoSuchUnit": .notReachable,
        "org.freedesktop.systemd1.UnitMasked": .notReachable,
    ]
}
