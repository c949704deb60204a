// SPDX-License-Identifier: Apache-2.0

/// An object as it is served.
package struct BusObject {
    package let path: ObjectPath
    let interfaces: [BusInterface]
    /// Whether it tells of the objects below it (`org.freedesktop.DBus.ObjectManager`).
    let isManager: Bool

    package init(_ path: ObjectPath, _ interfaces: [BusInterface], isManager: Bool = false) {
        self.path = path
        self.interfaces = interfaces
        self.isManager = isManager
    }

    /// Every property by interface: what object managers tell.
    @BusQueue var propertyValues: [String: [String: BusValue]] {
        var result: [String: [String: BusValue]] = [:]
        for interface in interfaces { result[interface.name.rawValue] = interface.propertyValues }
        return result
    }
}

extension BusInterface {
    @BusQueue var propertyValues: [String: BusValue] {
        var result: [String: BusValue] = [:]
        for property in properties { result[property.name.rawValue] = property.get() }
        return result
    }
}

extension BusConnection {
    /// Serves an object from now on; tells the managers above it.
    package func export(_ object: BusObject) {
        objects[object.path] = object
        for manager in managers(above: object.path) {
            send(
                InterfacesAdded.self,
                InterfacesAdded.Arguments(path: object.path, interfaces: object.propertyValues),
                from: manager.path)
        }
    }

    /// Serves the object no longer; tells the managers above it.
    package func unexport(_ path: ObjectPath) {
        guard let object = objects.removeValue(forKey: path) else { return }
        let names = object.interfaces.map(\.name.rawValue)
        for manager in managers(above: path) {
            send(
                InterfacesRemoved.self,
                InterfacesRemoved.Arguments(path: path, interfaces: names), from: manager.path)
        }
    }

    /// Tells everybody a property's present value.
    package func tellChange(of name: MemberName, in interface: InterfaceName, at path: ObjectPath) {
        guard
            let property = objects[path]?.interfaces.first(where: { $0.name == interface })?
                .properties.first(where: { $0.name == name })
        else { return }
        send(
            PropertiesChanged.self,
            PropertiesChanged.Arguments(
                interface: interface.rawValue, changed: [name.rawValue: property.get()],
                invalidated: []),
            from: path)
    }

    /// Broadcasts a signal, or sends it to one connection only.
    package func send<S: BusSignal>(
        _ type: S.Type, _ arguments: S.Arguments, from path: ObjectPath,
        to destination: UniqueName? = nil
    ) {
        let message = BusMessage.signal(
            from: path, interface: S.interface, member: S.member, to: destination)
        message.encode(arguments)
        send(message)
    }

    func reply(to call: BusMessage, with body: some BusBody) {
        guard call.expectsReply else { return }
        let reply = call.makeReply()
        reply.encode(body)
        send(reply)
    }

    func reply(to call: BusMessage, with error: BusError) {
        guard call.expectsReply else { return }
        send(call.makeError(error))
    }

    /// Finds what a call is for, and hands it over; whatever is wrong gets its standard error.
    func serve(_ message: BusMessage) {
        guard let sender = message.sender, let path = message.path, let member = message.member
        else { return }
        let call = BusCall(message, from: sender, on: self)
        let wanted = message.interface
        // The hot way: an object's own interfaces, before the standard ones are made.
        for interface in objects[path]?.interfaces ?? [] where interface.name.rawValue == wanted {
            if let method = interface.method(named: member) { return method.serve(call) }
        }
        let served = interfaces(at: path)
        func refuse(_ name: ErrorName, _ text: String) {
            call.answer(Result<NoValues, BusError>.failure(BusError(name, text)))
        }
        guard !served.isEmpty else {
            return refuse(.unknownObject, "there is no object \(path.rawValue)")
        }
        let candidates = served.filter { wanted == nil || $0.name.rawValue == wanted }
        guard !candidates.isEmpty else {
            return refuse(
                .unknownInterface, "\(path.rawValue) has no interface \(wanted ?? "")")
        }
        for interface in candidates {
            if let method = interface.method(named: member) { return method.serve(call) }
        }
        refuse(.unknownMethod, "\(path.rawValue) has no method \(member)")
    }

    /// What is served at a path: the object's own interfaces and the standard ones.
    func interfaces(at path: ObjectPath) -> [BusInterface] {
        if let object = objects[path] {
            return object.interfaces + standardInterfaces(of: object)
        }
        let isAbove = path.rawValue == "/" || objects.keys.contains { $0.parents.contains(path) }
        return isAbove ? [introspectable(at: path)] : []
    }

    private func managers(above path: ObjectPath) -> [BusObject] {
        path.parents.compactMap { objects[$0] }.filter(\.isManager)
    }
}
