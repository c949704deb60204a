// SPDX-License-Identifier: Apache-2.0

package import DBusBinding

/// Where the service is found.
package enum Service {
    package static let name: BusName = "org.example.LocalAuth"
    package static let path: ObjectPath = "/org/example/LocalAuth"
    package static let interface: InterfaceName = "org.example.LocalAuth"
    package static let managementInterface: InterfaceName = "org.example.LocalAuth.Management"
    package static let agentManagerInterface: InterfaceName = "org.example.LocalAuth.AgentManager"
    package static let readerInterface: InterfaceName = "org.example.LocalAuth.Reader"
    /// Of the objects that agents export.
    package static let agentInterface: InterfaceName = "org.example.LocalAuth.Agent"

    /// The object of the reader with this number.
    package static func readerPath(_ number: UInt32) -> ObjectPath {
        // Digits are always valid in a path; the fallback is never taken.
        ObjectPath("/org/example/LocalAuth/reader/\(number)") ?? path
    }
}

/// The names of the service's own errors.
package enum ServiceError: String, CaseIterable, Sendable {
    case authenticationFailed = "AuthenticationFailed"
    case userCancel = "UserCancel"
    case userFallback = "UserFallback"
    case systemCancel = "SystemCancel"
    case passcodeNotSet = "PasscodeNotSet"
    case biometryNotAvailable = "BiometryNotAvailable"
    case biometryNotEnrolled = "BiometryNotEnrolled"
    case biometryLockout = "BiometryLockout"
    case appCancel = "AppCancel"
    case biometryDisconnected = "BiometryDisconnected"
    case notInteractive = "NotInteractive"
    case timeout = "Timeout"
    case domainStateChanged = "DomainStateChanged"
    case readerBusy = "ReaderBusy"
    case notAuthorized = "NotAuthorized"
    case accountUnavailable = "AccountUnavailable"
    case passwordNotAvailable = "PasswordNotAvailable"
    case agentExists = "AgentExists"
    case noSuchPrompt = "NoSuchPrompt"
    case ticketInvalid = "TicketInvalid"
    case fingerAlreadyEnrolled = "FingerAlreadyEnrolled"
    case noSuchFinger = "NoSuchFinger"
    case readerStorageFull = "ReaderStorageFull"
    case leftoverPrints = "LeftoverPrints"
    case storageFailed = "StorageFailed"
    case enrollmentFailed = "EnrollmentFailed"

    private static let prefix = "org.example.LocalAuth.Error."

    package var name: ErrorName { ErrorName(stringLiteral: Self.prefix + rawValue) }

    /// The error that a name stands for; `nil` for other services' and the standard ones.
    package init?(_ name: ErrorName) {
        guard name.rawValue.hasPrefix(Self.prefix) else { return nil }
        self.init(rawValue: String(name.rawValue.dropFirst(Self.prefix.count)))
    }
}

/// The keys of `EvaluatePolicy`'s options.
package enum EvaluationOption: String, CaseIterable, Sendable {
    case token
    case timeout
    case fallbackTitle = "fallback-title"
    case cancelTitle = "cancel-title"
    case interactionNotAllowed = "interaction-not-allowed"
    case reuseDuration = "reuse-duration"
    case requiredDomainState = "required-domain-state"
    case challenge
    case parentWindow = "parent-window"
    case user
}

/// The keys of `EvaluatePolicy`'s result.
package enum EvaluationResultKey: String, CaseIterable, Sendable {
    case method
    case policy
    case token
    case authenticatedAt = "authenticated-at"
    case domainState = "domain-state"
    case ticket
}

/// The keys of `RedeemTicket`'s result.
package enum TicketClaim: String, CaseIterable, Sendable {
    case uid
    case user
    case policy
    case method
    case authenticatedAt = "authenticated-at"
    case caller
    case callerProgram = "caller-program"
    case callerEvidence = "caller-evidence"
}

/// The keys of `GetEnvironment`'s result.
package enum EnvironmentKey: String, CaseIterable, Sendable {
    case biometryType = "biometry-type"
    case biometryUsable = "biometry-usable"
    case biometryEnrolled = "biometry-enrolled"
    case biometryLockedOut = "biometry-locked-out"
    case attemptsLeft = "attempts-left"
    case lockoutSecondsLeft = "lockout-seconds-left"
    case sensorInaccessible = "sensor-inaccessible"
    case readers
    case passwordSet = "password-set"
    case agentPresent = "agent-present"
    case domainState = "domain-state"
}

/// The keys of an entry of `GetHistory`'s.
package enum HistoryKey: String, CaseIterable, Sendable {
    case kind
    case time
    case caller
    case callerEvidence = "caller-evidence"
    case callerUID = "caller-uid"
    case reason
    case policy
    case method
    case outcome
    case misses
}
