// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import SystemSupport

// Values that the tests of this target share.

/// A sample that must be valid; anything else is a mistake in the test.
func valid<T>(_ value: T?) -> T {
    guard let value else { preconditionFailure("not a valid sample") }
    return value
}

extension Account {
    static let alice = Account(id: valid(UserID(1_000)), name: valid(UserName("alice")))
    static let bob = Account(id: valid(UserID(1_001)), name: valid(UserName("bob")))
    static let root = Account(id: .root, name: valid(UserName("root")))
}

extension ReaderKind {
    static let sample = sample("1")

    static func sample(_ device: String) -> ReaderKind {
        valid(ReaderKind(driver: "virtual", deviceID: device))
    }
}

extension ReaderDescription {
    static func sample(
        _ number: UInt32, _ placement: ReaderPlacement = .unknown, device: String = "1"
    ) -> ReaderDescription {
        ReaderDescription(
            id: ReaderID(number), kind: .sample(device), name: "Reader", scanType: .press,
            enrolmentStages: 5, features: [.identify, .storageDelete], temperature: .cold,
            placement: placement)
    }
}

extension PrintID {
    static func sample(
        _ finger: Finger, of account: Account = .alice, on device: String = "1"
    ) -> PrintID {
        PrintID(user: account.name, reader: .sample(device), finger: finger)
    }
}

extension StoredPrint {
    static let sample = StoredPrint(id: .sample(.rightIndex), template: [1])
}

extension BootID {
    static let sample = valid(BootID("b007"))
}

extension Log {
    /// Says nothing.
    static let silent = Log(topic: "test", threshold: .error)
}
