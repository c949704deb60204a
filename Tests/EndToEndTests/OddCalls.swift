// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import LocalAuthContract

// Calls that the contract does not have.

/// `EvaluatePolicy` with one string.
enum EvaluateWithText: BusMethod {
    static let interface = Service.interface
    static let member: MemberName = "EvaluatePolicy"
    typealias Arguments = Single<String>
    typealias Reply = NoValues
}

/// `EvaluatePolicy` with nothing.
enum EvaluateWithNothing: BusMethod {
    static let interface = Service.interface
    static let member: MemberName = "EvaluatePolicy"
    typealias Arguments = NoValues
    typealias Reply = NoValues
}

/// `EvaluatePolicy` with one argument more than it has.
enum EvaluateWithMore: BusMethod {
    static let interface = Service.interface
    static let member: MemberName = "EvaluatePolicy"
    struct Arguments: BusBody {
        static let parameters =
            EvaluatePolicy.Arguments.parameters + [BusParameter("more", String.self)]
        let right = EvaluatePolicy.Arguments(policy: 1, localizedReason: "more", options: [:])
        init() {}
        init(from reader: inout MessageReader) throws(DecodingFailure) {}
        func encode(to writer: inout MessageWriter) {
            right.encode(to: &writer)
            writer.write("more")
        }
    }
    typealias Reply = NoValues
}

/// `CanEvaluatePolicy` with a string instead of a number.
enum CanEvaluateText: BusMethod {
    static let interface = Service.interface
    static let member: MemberName = "CanEvaluatePolicy"
    typealias Arguments = Single<String>
    typealias Reply = NoValues
}

enum NoSuchMethod: BusMethod {
    static let interface = Service.interface
    static let member: MemberName = "AllowEverything"
    typealias Arguments = NoValues
    typealias Reply = NoValues
}

enum NoSuchInterface: BusMethod {
    static let interface: InterfaceName = "org.example.LocalAuth.Elsewhere"
    static let member: MemberName = "CanEvaluatePolicy"
    typealias Arguments = NoValues
    typealias Reply = NoValues
}

/// `org.freedesktop.DBus.Properties.Set` with a string.
enum SetText: BusMethod {
    static let interface: InterfaceName = "org.freedesktop.DBus.Properties"
    static let member: MemberName = "Set"
    struct Arguments: BusBody {
        static let parameters = [
            BusParameter("interface_name", String.self), BusParameter("property_name", String.self),
            BusParameter("value", BusValue.self),
        ]
        let property: String
        init(_ property: String) { self.property = property }
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            _ = try reader.read(String.self)
            property = try reader.read()
            _ = try reader.read(BusValue.self)
        }
        func encode(to writer: inout MessageWriter) {
            writer.write(Service.interface.rawValue)
            writer.write(property)
            writer.write(BusValue.string("2"))
        }
    }
    typealias Reply = NoValues
}
