// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

@Suite struct `An ending` {
    private static let codes: [EvaluationError: Int32] = [
        .authenticationFailed: -1, .userCancel: -2, .userFallback: -3, .systemCancel: -4,
        .passcodeNotSet: -5, .biometryNotAvailable: -6, .biometryNotEnrolled: -7,
        .printsNotOnReader: -7, .biometryLockout: -8, .appCancel: -9, .biometryDisconnected: -13,
        .notInteractive: -1004, .timeout: -4, .domainStateChanged: -1, .readerBusy: -6,
        .notAuthorized: -1004, .accountUnavailable: -1, .passwordNotAvailable: -1004,
        .limitsExceeded: -4,
    ]

    @Test(arguments: EvaluationError.allCases)
    func `has the number of Apple's code`(error: EvaluationError) {
        #expect(error.laErrorCode == Self.codes[error])
    }

    @Test(arguments: ReaderFailure.allCases)
    func `of a reader's failure is never a verdict about the finger`(failure: ReaderFailure) {
        let expected: EvaluationError =
            switch failure {
            case .busy: .readerBusy
            case .cancelled: .systemCancel
            case .noUsablePrints: .biometryNotEnrolled
            case .notOnReader: .printsNotOnReader
            case .removed, .tooHot, .notSupported, .io, .duplicate, .storageFull, .inaccessible:
                .biometryNotAvailable
            }
        #expect(EvaluationError(failure) == expected)
        #expect(EvaluationError(failure) != .authenticationFailed)
    }
}

@Suite struct `A moment since the boot` {
    @Test func `is never a negative time away`() {
        #expect(BootTime.seconds(5).since(.seconds(3)) == .seconds(2))
        #expect(BootTime.seconds(3).since(.seconds(5)) == .zero)
        #expect(BootTime(microseconds: .max).since(.seconds(0)) == .microseconds(Int64.max))
        #expect(BootTime.seconds(1) + .seconds(2) == .seconds(3))
        #expect(BootTime.seconds(1) + .seconds(-2) == .seconds(1))
        #expect(BootTime.seconds(1) < .seconds(2))
    }
}

@Suite struct `The features of a reader` {
    @Test func `have names in a fixed order`() {
        #expect(ReaderFeatures([]).wireNames == [])
        #expect(
            ReaderFeatures(rawValue: .max).wireNames == [
                "verify", "identify", "storage", "storage-list", "storage-delete", "storage-clear",
                "duplicates-check",
            ])
        #expect(ReaderFeatures([.storage, .verify]).wireNames == ["verify", "storage"])
    }
}
