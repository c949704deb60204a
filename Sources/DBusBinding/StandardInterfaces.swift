// SPDX-License-Identifier: Apache-2.0

// The interfaces that the D-Bus specification defines for every object
// (https://dbus.freedesktop.org/doc/dbus-specification.html, "Standard Interfaces").
// `org.freedesktop.DBus.Peer` is answered by libdbus itself.

private let properties: InterfaceName = "org.freedesktop.DBus.Properties"
private let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"

enum Introspect: BusMethod {
    typealias Arguments = NoValues
    static let interface: InterfaceName = "org.freedesktop.DBus.Introspectable"
    static let member: MemberName = "Introspect"
    struct Reply: BusBody {
        static let parameters = [BusParameter("xml_data", String.self)]
        let xml: String
        init(xml: String) { self.xml = xml }
        init(from reader: inout MessageReader) throws(DecodingFailure) { xml = try reader.read() }
        func encode(to writer: inout MessageWriter) { writer.write(xml) }
    }
}

package enum GetProperty: BusMethod {
    package static let interface = properties
    package static let member: MemberName = "Get"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("interface_name", String.self), BusParameter("property_name", String.self),
        ]
        let interface: String
        let property: String
        package init(interface: String, property: String) {
            self.interface = interface
            self.property = property
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            interface = try reader.read()
            property = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(interface)
            writer.write(property)
        }
    }
    package typealias Reply = Single<BusValue>
}

package enum GetAllProperties: BusMethod {
    package static let interface = properties
    package static let member: MemberName = "GetAll"
    package typealias Arguments = Single<String>
    package typealias Reply = Single<[String: BusValue]>
}

enum SetProperty: BusMethod {
    static let interface = properties
    static let member: MemberName = "Set"
    struct Arguments: BusBody {
        static let parameters =
            GetProperty.Arguments.parameters + [BusParameter("value", BusValue.self)]
        let target: GetProperty.Arguments
        let value: BusValue
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            target = try GetProperty.Arguments(from: &reader)
            value = try reader.read()
        }
        func encode(to writer: inout MessageWriter) {
            target.encode(to: &writer)
            writer.write(value)
        }
    }
    typealias Reply = NoValues
}

package enum PropertiesChanged: BusSignal {
    package static let interface = properties
    package static let member: MemberName = "PropertiesChanged"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("interface_name", String.self),
            BusParameter("changed_properties", [String: BusValue].self),
            BusParameter("invalidated_properties", [String].self),
        ]
        package let interface: String
        package let changed: [String: BusValue]
        package let invalidated: [String]
        package init(interface: String, changed: [String: BusValue], invalidated: [String]) {
            self.interface = interface
            self.changed = changed
            self.invalidated = invalidated
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            interface = try reader.read()
            changed = try reader.read()
            invalidated = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(interface)
            writer.write(changed)
            writer.write(invalidated)
        }
    }
}

package enum GetManagedObjects: BusMethod {
    package static let interface = objectManager
    package static let member: MemberName = "GetManagedObjects"
    package typealias Arguments = NoValues
    package typealias Reply = Single<[ObjectPath: [String: [String: BusValue]]]>
}

package enum InterfacesAdded: BusSignal {
    package static let interface = objectManager
    package static let member: MemberName = "InterfacesAdded"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("object_path", ObjectPath.self),
            BusParameter("interfaces_and_properties", [String: [String: BusValue]].self),
        ]
        package let path: ObjectPath
        package let interfaces: [String: [String: BusValue]]
        package init(path: ObjectPath, interfaces: [String: [String: BusValue]]) {
            self.path = path
            self.interfaces = interfaces
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            path = try reader.read()
            interfaces = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(path)
            writer.write(interfaces)
        }
    }
}

package enum InterfacesRemoved: BusSignal {
    package static let interface = objectManager
    package static let member: MemberName = "InterfacesRemoved"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("object_path", ObjectPath.self),
            BusParameter("interfaces", [String].self),
        ]
        package let path: ObjectPath
        package let interfaces: [String]
        package init(path: ObjectPath, interfaces: [String]) {
            self.path = path
            self.interfaces = interfaces
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            path = try reader.read()
            interfaces = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(path)
            writer.write(interfaces)
        }
    }
}

extension BusConnection {
    /// The standard interfaces that an object of ours has.
    func standardInterfaces(of object: BusObject) -> [BusInterface] {
        var result = [introspectable(at: object.path), propertiesInterface(of: object)]
        if object.isManager { result.append(managerInterface(of: object)) }
        return result
    }

    func introspectable(at path: ObjectPath) -> BusInterface {
        var interface = BusInterface(Introspect.interface)
        interface.serve(Introspect.self) { [unowned self] _, _ throws(BusError) in
            Introspect.Reply(xml: introspection(of: path))
        }
        return interface
    }

    private func propertiesInterface(of object: BusObject) -> BusInterface {
        var interface = BusInterface(properties)
        let path = object.path
        interface.serve(GetProperty.self) { [unowned self] arguments, _ throws(BusError) in
            let property = try property(arguments, at: path)
            return Single(property.get())
        }
        interface.serve(GetAllProperties.self) { [unowned self] name, _ throws(BusError) in
            let served = interfaces(at: path)
            guard !name.value.isEmpty else {
                var all: [String: BusValue] = [:]
                for interface in served { all.merge(interface.propertyValues) { a, _ in a } }
                return Single(all)
            }
            guard let interface = served.first(where: { $0.name.rawValue == name.value }) else {
                throw BusError(
                    .unknownInterface, "\(path.rawValue) has no interface \(name.value)")
            }
            return Single(interface.propertyValues)
        }
        interface.serve(SetProperty.self) { [unowned self] arguments, _ throws(BusError) in
            _ = try property(arguments.target, at: path)
            throw BusError(
                .propertyReadOnly, "\(arguments.target.property) cannot be written")
        }
        interface.sends(PropertiesChanged.self)
        return interface
    }

    private func property(
        _ target: GetProperty.Arguments, at path: ObjectPath
    ) throws(BusError) -> BusProperty {
        let interfaces = (objects[path]?.interfaces ?? []).filter {
            target.interface.isEmpty || $0.name.rawValue == target.interface
        }
        guard !interfaces.isEmpty else {
            throw BusError(
                .unknownInterface, "\(path.rawValue) has no interface \(target.interface)")
        }
        for interface in interfaces {
            for property in interface.properties where property.name.rawValue == target.property {
                return property
            }
        }
        throw BusError(
            .unknownProperty, "\(path.rawValue) has no property \(target.property)")
    }

    private func managerInterface(of object: BusObject) -> BusInterface {
        var interface = BusInterface(objectManager)
        let path = object.path
        interface.serve(GetManagedObjects.self) { [unowned self] _, _ throws(BusError) in
            var result: [ObjectPath: [String: [String: BusValue]]] = [:]
            for (below, object) in objects where below.parents.contains(path) {
                result[below] = object.propertyValues
            }
            return Single(result)
        }
        interface.sends(InterfacesAdded.self)
        interface.sends(InterfacesRemoved.self)
        return interface
    }
}
