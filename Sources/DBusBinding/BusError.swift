// SPDX-License-Identifier: Apache-2.0

/// An error as it crosses the bus: a name for programs and a sentence for people.
package struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    package let name: ErrorName
    package let message: String

    package init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }

    package var description: String { "\(name.rawValue): \(message)" }
}

/// The names that the D-Bus specification and its reference bus define.
extension ErrorName {
    package static let failed: Self = "org.freedesktop.DBus.Error.Failed"
    package static let invalidArgs: Self = "org.freedesktop.DBus.Error.InvalidArgs"
    package static let limitsExceeded: Self = "org.freedesktop.DBus.Error.LimitsExceeded"
    package static let notSupported: Self = "org.freedesktop.DBus.Error.NotSupported"
    package static let noReply: Self = "org.freedesktop.DBus.Error.NoReply"
    package static let disconnected: Self = "org.freedesktop.DBus.Error.Disconnected"
    package static let serviceUnknown: Self = "org.freedesktop.DBus.Error.ServiceUnknown"
    package static let nameHasNoOwner: Self = "org.freedesktop.DBus.Error.NameHasNoOwner"
    package static let unknownObject: Self = "org.freedesktop.DBus.Error.UnknownObject"
    package static let unknownInterface: Self = "org.freedesktop.DBus.Error.UnknownInterface"
    package static let unknownMethod: Self = "org.freedesktop.DBus.Error.UnknownMethod"
    package static let unknownProperty: Self = "org.freedesktop.DBus.Error.UnknownProperty"
    package static let propertyReadOnly: Self = "org.freedesktop.DBus.Error.PropertyReadOnly"
}
