// SPDX-License-Identifier: Apache-2.0

extension BusConnection {
    /// The introspection data of a path, made from the tables that calls are dispatched by.
    func introspection(of path: ObjectPath) -> String {
        var xml = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>\n
            """
        for interface in interfaces(at: path) { xml += interface.introspection }
        xml += """
              <interface name="org.freedesktop.DBus.Peer">
                <method name="Ping"/>
                <method name="GetMachineId">
                  <arg type="s" name="machine_uuid" direction="out"/>
                </method>
              </interface>\n
            """
        for child in children(of: path) { xml += "  <node name=\"\(child)\"/>\n" }
        return xml + "</node>\n"
    }

    /// The names directly below a path, in order.
    private func children(of path: ObjectPath) -> [String] {
        var names: Set<String> = []
        for object in objects.keys {
            let line = [object] + object.parents
            for (below, above) in zip(line, line.dropFirst()) where above == path {
                names.insert(String(below.lastElement))
            }
        }
        return names.sorted()
    }
}

extension BusInterface {
    // Names and signatures are valid by their types and hold nothing that XML must escape.
    fileprivate var introspection: String {
        var xml = "  <interface name=\"\(name.rawValue)\">\n"
        for method in methods {
            let arguments =
                method.inputs.map { argument($0, direction: "in") }
                + method.outputs.map { argument($0, direction: "out") }
            xml += element("method", method.name, arguments)
        }
        for signal in signals {
            xml += element("signal", signal.name, signal.parameters.map { argument($0) })
        }
        for property in properties {
            xml += """
                    <property name="\(property.name.rawValue)" type="\(property.signature)" access="read">
                      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" \
                value="\(property.emission.rawValue)"/>
                    </property>\n
                """
        }
        return xml + "  </interface>\n"
    }

    private func element(_ kind: String, _ name: MemberName, _ arguments: [String]) -> String {
        guard !arguments.isEmpty else { return "    <\(kind) name=\"\(name.rawValue)\"/>\n" }
        return "    <\(kind) name=\"\(name.rawValue)\">\n" + arguments.joined()
            + "    </\(kind)>\n"
    }

    private func argument(_ parameter: BusParameter, direction: String? = nil) -> String {
        let direction = direction.map { " direction=\"\($0)\"" } ?? ""
        return
            "      <arg type=\"\(parameter.signature)\" name=\"\(parameter.name)\"\(direction)/>\n"
    }
}
