// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import LocalAuthContract
import Testing

@testable import localauthctl

@Suite struct `An exit code` {
    /// The promise, written down a second time on purpose.
    private static let promised: [ServiceError: Int32] = [
        .authenticationFailed: 1, .domainStateChanged: 1, .ticketInvalid: 1,
        .userCancel: 3, .systemCancel: 3, .appCancel: 3,
        .timeout: 4,
        .biometryNotAvailable: 5, .biometryNotEnrolled: 5, .biometryDisconnected: 5,
        .readerBusy: 5, .passcodeNotSet: 5, .passwordNotAvailable: 5, .agentExists: 5,
        .biometryLockout: 6,
        .notInteractive: 7, .notAuthorized: 7, .accountUnavailable: 7,
        .fingerAlreadyEnrolled: 9, .noSuchFinger: 9, .readerStorageFull: 9, .leftoverPrints: 9,
        .storageFailed: 9,
        .enrollmentFailed: 9,
        .userFallback: 10,
        .noSuchPrompt: 70,
    ]

    @Test(arguments: ServiceError.allCases)
    func `is promised for every error of the service`(error: ServiceError) {
        #expect(ExitCode(BusError(error.name, "")).rawValue == Self.promised[error])
    }

    @Test(
        arguments: [
            (.invalidArgs, 2), (.limitsExceeded, 5), (.noReply, 8), (.disconnected, 8),
            (.serviceUnknown, 8), (.nameHasNoOwner, 8), (.unknownMethod, 8),
            ("org.freedesktop.DBus.Error.AccessDenied", 7), (.failed, 70), (.notSupported, 70),
            ("org.example.LocalAuth.Error.FromTheFuture", 70), ("a.b", 70),
        ] as [(ErrorName, Int32)])
    func `is promised for other errors too, known or not`(name: ErrorName, code: Int32) {
        #expect(ExitCode(BusError(name, "")).rawValue == code)
    }

    @Test func `of an error is never success`() {
        for error in ServiceError.allCases { #expect(ExitCode(error) != .success) }
    }

    @Test(arguments: ExitCode.allCases)
    func `is explained in the help`(code: ExitCode) {
        #expect(Help.text(nil).contains("\n  \(code.rawValue) "))
        #expect(Help.text(nil).contains(code.meaning))
    }
}
