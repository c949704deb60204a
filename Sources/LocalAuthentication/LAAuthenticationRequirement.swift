// SPDX-License-Identifier: Apache-2.0

/// What a right needs to be authorized.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    /// What it comes down to; the names are those in the files of ``LARightStore``.
    enum Kind: String, Codable, Sendable {
        case any
        case biometry
        case biometryCurrentSet = "biometry-current-set"
    }

    let kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
        super.init()
    }

    /// A finger or the account's password.
    public static let `default` = LAAuthenticationRequirement(.any)

    /// A finger.
    public static let biometry = LAAuthenticationRequirement(.biometry)

    /// One of the fingers that are enrolled when the right is saved; without saving, when it is first
    /// asked for. After a finger was added or removed the right cannot be authorized any more.
    public static let biometryCurrentSet = LAAuthenticationRequirement(.biometryCurrentSet)

    /// A finger or something else.
    ///
    /// - Parameter fallback: what else.
    /// - Returns: the requirement.
    public static func biometry(
        fallback: LABiometryFallbackRequirement
    ) -> LAAuthenticationRequirement {
        // The account's password is the only other way on Linux, and so the default one.
        .default
    }

    /// Requirements are equal when they want the same.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? LAAuthenticationRequirement)?.kind == kind
    }

    /// Equal requirements have equal hashes.
    public override var hash: Int { kind.hashValue }

    /// The policy that is evaluated.
    var policy: LAPolicy {
        kind == .any ? .deviceOwnerAuthentication : .deviceOwnerAuthenticationWithBiometrics
    }
}

/// What may be asked for in the place of a finger.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    /// What the system has: the account's password.
    public static let `default` = LABiometryFallbackRequirement()

    /// The account's password.
    public static let devicePasscode = LABiometryFallbackRequirement()
}
