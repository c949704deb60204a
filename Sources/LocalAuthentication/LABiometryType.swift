// SPDX-License-Identifier: Apache-2.0

/// The kind of biometry that a machine has.
///
/// The values are Apple's (`LABiometryType` in `LABiometryType.h`).
public enum LABiometryType: Int, Sendable {
    /// None, or not known yet.
    case none = 0
    /// Fingerprints. So is every reader that libfprint drives.
    case touchID = 1
    /// Faces. Never on Linux.
    case faceID = 2
    /// Irises. Never on Linux.
    case opticID = 4
}

/// The kind of a paired device nearby.
///
/// The values are Apple's (`LACompanionType` in `LACompanionType.h`). Linux has none yet.
public enum LACompanionType: Int, Sendable {
    /// A watch.
    case watch = 1
    /// A Mac.
    case mac = 2
    /// A headset.
    case vision = 4
}

/// The kind of a credential that an application gives to a context.
///
/// The values are Apple's (`LACredentialType` in `LAContext.h`).
public enum LACredentialType: Int, Sendable {
    /// A password of the application's own, not the account's.
    case applicationPassword = 0
    /// The PIN of a smart card.
    case smartCardPIN = -3
}
