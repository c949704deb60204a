// SPDX-License-Identifier: Apache-2.0

/// The state of what a user can be authenticated by.
///
/// A hash stands for the user's enrolled fingers as they are, and says nothing else: it is the same
/// as long as nothing changes, for this user and this application, also after a restart; it is
/// another one after every finger that was added, removed or replaced, also where that was undone.
/// Other applications and other users have others.
public final class LADomainState: NSObject, Sendable {
    /// Of fingers.
    public let biometry: Biometry
    /// Of paired devices.
    public let companion: Companion
    /// Of both together; `nil` when nothing is enrolled.
    public var stateHash: Data? { biometry.stateHash }

    init(_ environment: EnvironmentSnapshot) {
        biometry = Biometry(environment)
        companion = Companion()
        super.init()
    }

    /// The state of the enrolled fingers.
    public final class Biometry: NSObject, Sendable {
        /// The biometry of this machine.
        public let biometryType: LABiometryType
        /// The state of the enrolled fingers, 32 bytes; `nil` when none is.
        public let stateHash: Data?

        init(_ environment: EnvironmentSnapshot) {
            biometryType = environment.biometryType
            stateHash = environment.enrolmentHash
            super.init()
        }
    }

    /// The state of the paired devices. On Linux there are none.
    public final class Companion: NSObject, Sendable {
        /// The kinds of devices that are paired.
        public var availableCompanionTypes: Set<LACompanionType> { [] }
        /// The state of all of them; `nil` when there is none.
        public var stateHash: Data? { nil }

        /// The state of the devices of one kind.
        ///
        /// - Parameter companionType: the kind.
        /// - Returns: the state; `nil` when there is none of that kind.
        public func stateHash(for companionType: LACompanionType) -> Data? { nil }
    }
}
