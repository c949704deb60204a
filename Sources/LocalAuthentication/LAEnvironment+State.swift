// SPDX-License-Identifier: Apache-2.0

extension LAEnvironment {
    /// What a user can be authenticated by, at one moment.
    public final class State: NSObject, Sendable {
        /// Fingers; `nil` where no reader is.
        public let biometry: MechanismBiometry?
        /// The account's password; `nil` where it is not known.
        public let userPassword: MechanismUserPassword?
        /// Paired devices: none on Linux.
        public var companions: [MechanismCompanion] { [] }
        /// All of them.
        public var allMechanisms: [Mechanism] {
            [biometry, userPassword].compactMap(\.self)
        }

        let snapshot: EnvironmentSnapshot

        init(_ snapshot: EnvironmentSnapshot) {
            self.snapshot = snapshot
            biometry = snapshot.biometryType == .none ? nil : MechanismBiometry(snapshot)
            userPassword = snapshot == .nothing ? nil : MechanismUserPassword(snapshot)
            super.init()
        }

        /// States are equal when they say the same.
        public override func isEqual(_ object: Any?) -> Bool {
            (object as? State)?.snapshot == snapshot
        }

        /// Equal states have equal hashes.
        public override var hash: Int { snapshot.hashValue }
    }

    /// One way to authenticate the user.
    public class Mechanism: NSObject, @unchecked Sendable {
        // Unchecked because it has subclasses; they are this module's, and immutable as it is.

        /// Whether it could be used now.
        public let isUsable: Bool
        /// What it is called, for people.
        public let localizedName: String
        /// The name of its icon, in the icon naming of the desktops (freedesktop.org).
        public let iconSystemName: String

        init(isUsable: Bool, localizedName: String, iconSystemName: String) {
            self.isUsable = isUsable
            self.localizedName = localizedName
            self.iconSystemName = iconSystemName
            super.init()
        }
    }

    /// Fingers.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// The kind of biometry.
        public let biometryType: LABiometryType
        /// Whether the user has a finger enrolled on a reader that is here.
        public let isEnrolled: Bool
        /// Whether too many fingers in a row did not match.
        public let isLockedOut: Bool
        /// The state of the enrolled fingers, 32 bytes; `nil` when none is. See ``LADomainState``.
        public let stateHash: Data?
        /// Whether the user's fingers are enrolled only on a reader under a closed lid.
        public let builtInSensorInaccessible: Bool
        /// How many fingers may fail to match before the lockout; 0 in it. Only on Linux.
        public let attemptsLeft: Int
        /// After how many seconds the lockout ends by itself; `nil` when it does not, or when there
        /// is none. Only on Linux.
        public let lockoutSecondsLeft: Int?

        init(_ snapshot: EnvironmentSnapshot) {
            biometryType = snapshot.biometryType
            isEnrolled = snapshot.isEnrolled
            isLockedOut = snapshot.isLockedOut
            stateHash = snapshot.enrolmentHash
            builtInSensorInaccessible = snapshot.isSensorInaccessible
            attemptsLeft = snapshot.attemptsLeft
            lockoutSecondsLeft =
                snapshot.lockoutSecondsLeft == 0 ? nil : snapshot.lockoutSecondsLeft
            super.init(
                isUsable: snapshot.isUsable, localizedName: localized("Fingerprint"),
                iconSystemName: "auth-fingerprint-symbolic")
        }
    }

    /// The account's password.
    public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
        /// Whether the account has a password.
        public let isSet: Bool
        /// Whether the session has a prompt that would ask for it. Only on Linux.
        public let isPromptPresent: Bool

        init(_ snapshot: EnvironmentSnapshot) {
            isSet = snapshot.isPasswordSet
            isPromptPresent = snapshot.isAgentPresent
            super.init(
                isUsable: snapshot.isPasswordSet && snapshot.isAgentPresent,
                localizedName: localized("Password"), iconSystemName: "dialog-password-symbolic")
        }
    }

    /// A paired device. On Linux there is none.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        /// The kind of device.
        public let type: LACompanionType
        /// The state of the paired devices of this kind.
        public var stateHash: Data? { nil }

        init(type: LACompanionType) {
            self.type = type
            super.init(isUsable: false, localizedName: "", iconSystemName: "")
        }
    }
}
