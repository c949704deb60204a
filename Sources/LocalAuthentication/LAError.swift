// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of this module's errors, as an `NSError` has it.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// Why there was no authentication.
///
/// As on Apple's systems, one and the same error can be looked at as an `LAError` and as an
/// `NSError`, and cast from one to the other; `LAError.userCancel` and its like match it in `switch`
/// and `catch`.
///
/// `localizedDescription` is a short sentence for people. What exactly the service said, in English
/// and for developers, is in `userInfo` under `NSDebugDescription`; its own name for the error is
/// ``serviceErrorName``.
public struct LAError: Error, Sendable {
    /// The same error as Foundation sees it.
    let bridged: NSError

    /// The domain of these errors: ``LAErrorDomain``.
    public static var errorDomain: String { LAErrorDomain }

    /// An error of this domain.
    init(bridging error: NSError) { bridged = error }

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: what has happened.
    ///   - userInfo: more about it. Without `NSLocalizedDescriptionKey`, the description is the
    ///     short sentence that goes with the code.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        let description = [NSLocalizedDescriptionKey: code.localizedDescription as Any]
        bridged = NSError(
            domain: LAErrorDomain, code: code.rawValue,
            userInfo: description.merging(userInfo) { $1 })
    }

    /// What has happened.
    public var code: Code { Code(rawValue: bridged.code) ?? .authenticationFailed }

    /// What has happened, by number.
    public var errorCode: Int { bridged.code }

    /// More about it.
    public var userInfo: [String: Any] { bridged.userInfo }

    /// More about it, under the name that Foundation's `CustomNSError` has for it.
    public var errorUserInfo: [String: Any] { bridged.userInfo }

    /// A short sentence for people, in their language where there is a translation.
    public var localizedDescription: String { bridged.localizedDescription }
}

extension LAError {
    /// What can happen. The values are Apple's (`LAError.h`).
    public enum Code: Int, Sendable {
        /// The user could not be authenticated: three fingers that did not match, or three wrong
        /// passwords.
        case authenticationFailed = -1
        /// The user chose *Cancel*.
        case userCancel = -2
        /// The user chose the fallback button, under a policy that has no fallback.
        case userFallback = -3
        /// The system ended it: the session was locked or left, the machine went to sleep, the
        /// service stopped, or nobody did anything for minutes.
        case systemCancel = -4
        /// No finger can be used and the account has no password.
        case passcodeNotSet = -5
        /// No reader, or none that can be used now; or LocalAuth is not installed, which
        /// `localizedDescription` says.
        case biometryNotAvailable = -6
        /// The user has no finger enrolled.
        case biometryNotEnrolled = -7
        /// Too many fingers in a row did not match. The account's password ends it.
        case biometryLockout = -8
        /// The application ended it: ``LAContext/invalidate()``, the context was let go, or its
        /// task was cancelled.
        case appCancel = -9
        /// The context had been invalidated before.
        case invalidContext = -10
        /// No paired device is nearby. So are the policies 3, 4 and 5 on Linux.
        case companionNotAvailable = -11
        /// No accessory with a reader is paired. Never on Linux.
        case biometryNotPaired = -12
        /// The user's fingers are enrolled, but no reader is plugged in.
        case biometryDisconnected = -13
        /// A view of the wrong size. Never on Linux.
        case invalidDimensions = -14
        /// The user would have to be asked, and must not or cannot be.
        case notInteractive = -1004
    }
}
