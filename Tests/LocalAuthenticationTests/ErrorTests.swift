// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import LocalAuthContract
import LocalAuthentication
import Testing

/// Apple's values, from `LAError.h`.
private let codes: [(code: LAError.Code, value: Int)] = [
    (.authenticationFailed, -1), (.userCancel, -2), (.userFallback, -3), (.systemCancel, -4),
    (.passcodeNotSet, -5), (.biometryNotAvailable, -6), (.biometryNotEnrolled, -7),
    (.biometryLockout, -8), (.appCancel, -9), (.invalidContext, -10),
    (.companionNotAvailable, -11), (.biometryNotPaired, -12), (.biometryDisconnected, -13),
    (.invalidDimensions, -14), (.notInteractive, -1004),
]

@Suite struct `An LAError` {
    @Test(arguments: codes.map(\.value)) func `has Apple's values`(value: Int) throws {
        let code = try #require(LAError.Code(rawValue: value))
        #expect(codes.contains { $0.code == code && $0.value == value })
        let error = LAError(code)
        #expect(error.errorCode == value && error.code == code)
        #expect((error as NSError).domain == "com.apple.LocalAuthentication")
        #expect((error as NSError).code == value)
        #expect(!error.localizedDescription.isEmpty)
        #expect(!error.localizedDescription.contains("could not be completed"))
    }

    @Test func `has fifteen codes and no other`() {
        #expect((-2_000...10).compactMap { LAError.Code(rawValue: $0) }.count == 15)
        #expect(Set(codes.map { LAError($0.code).localizedDescription }).count == 15)
    }

    @Test func `has Apple's short descriptions`() {
        #expect(LAError(.userCancel).localizedDescription == "Canceled by user.")
        #expect(LAError(.biometryLockout).localizedDescription == "Biometry is locked out.")
        #expect(LAError(.appCancel).localizedDescription == "Canceled by application.")
        let own = LAError(.userCancel, userInfo: [NSLocalizedDescriptionKey: "No."])
        #expect(own.localizedDescription == "No.")
    }

    @Test func `is matched by its name, as a struct and as an NSError`() {
        let errors: [any Error] = [
            LAError(.userCancel), NSError(domain: LAErrorDomain, code: -2),
        ]
        for error in errors {
            #expect(LAError.userCancel ~= error)
            #expect(!(LAError.userFallback ~= error))
            #expect((error as? LAError)?.code == .userCancel)
            switch error {
            case LAError.userCancel: break
            default: Issue.record("not matched")
            }
            do { throw error } catch LAError.userCancel {} catch { Issue.record("not caught") }
        }
    }

    @Test func `is not what an error of another domain is`() {
        let stranger: any Error = NSError(domain: NSCocoaErrorDomain, code: -2)
        #expect(stranger as? LAError == nil)
        #expect(!(LAError.userCancel ~= stranger))
        let none: NSError? = nil
        #expect(none as? LAError == nil)
    }

    @Test func `goes to NSError and back unchanged`() throws {
        let error = LAError(.userFallback, userInfo: ["key": "value"])
        let bridged = error as NSError
        #expect(bridged.userInfo["key"] as? String == "value")
        let back = try #require(bridged as? LAError)
        #expect(back == error && back.hashValue == error.hashValue)
        #expect(Set([error, back, LAError(.userFallback)]).count == 2)
        #expect((error as any Error)._code == -3)
        #expect((error as any Error)._domain == LAErrorDomain)
    }
}
