// SPDX-License-Identifier: Apache-2.0

/// A reader as this run of the daemon knows it. A reader that is plugged in again gets a new one.
package struct ReaderID: Hashable, Sendable {
    package let number: UInt32
    package init(_ number: UInt32) { self.number = number }
}

/// What prints are made for: the driver and the reader's own id. Both are safe file names,
/// because prints are filed under them.
package struct ReaderKind: Hashable, Sendable {
    package let driver: String
    package let deviceID: String

    package init?(driver: String, deviceID: String) {
        guard isSafeFileName(driver), isSafeFileName(deviceID) else { return nil }
        self.driver = driver
        self.deviceID = deviceID
    }
}

/// How a finger is put on the sensor.
package enum ScanType: String, Hashable, Sendable { case press, swipe }

/// How much more scanning the sensor's heat allows.
package enum ReaderTemperature: String, Hashable, Sendable { case cold, warm, hot }

/// Where a reader is, as far as the system can tell.
package enum ReaderPlacement: String, Hashable, Sendable {
    /// Part of the machine: out of reach under a closed lid.
    case builtIn = "built-in"
    /// Plugged in.
    case external
    case unknown
}

/// What a reader can do, as libfprint tells it.
package struct ReaderFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let verify = Self(rawValue: 1 << 0)
    package static let identify = Self(rawValue: 1 << 1)
    package static let storage = Self(rawValue: 1 << 2)
    package static let storageList = Self(rawValue: 1 << 3)
    package static let storageDelete = Self(rawValue: 1 << 4)
    package static let duplicatesCheck = Self(rawValue: 1 << 5)
    package static let storageClear = Self(rawValue: 1 << 6)

    /// The names used on the bus, in a fixed order.
    package var wireNames: [String] {
        let names: [(Self, String)] = [
            (.verify, "verify"), (.identify, "identify"), (.storage, "storage"),
            (.storageList, "storage-list"), (.storageDelete, "storage-delete"),
            (.storageClear, "storage-clear"), (.duplicatesCheck, "duplicates-check"),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}

/// A snapshot of one reader.
package struct ReaderDescription: Hashable, Sendable {
    package let id: ReaderID
    package let kind: ReaderKind
    /// The maker's name for it, for people.
    package var name: String
    package var scanType: ScanType
    /// How many touches an enrolment takes.
    package var enrolmentStages: UInt32
    package var features: ReaderFeatures
    package var temperature: ReaderTemperature
    package var placement: ReaderPlacement

    package init(
        id: ReaderID, kind: ReaderKind, name: String, scanType: ScanType, enrolmentStages: UInt32,
        features: ReaderFeatures, temperature: ReaderTemperature,
        placement: ReaderPlacement = .unknown
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.scanType = scanType
        self.enrolmentStages = enrolmentStages
        self.features = features
        self.temperature = temperature
        self.placement = placement
    }
}

/// What became of the set of readers.
package enum ReaderChange: Hashable, Sendable {
    case added(ReaderDescription)
    /// Something that is told about the reader is different now (heat, stages, scan type).
    case changed(ReaderDescription)
    case removed(ReaderID)
}
