// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import Testing

/// A call of any method without arguments.
private enum Anything: BusMethod {
    typealias Arguments = NoValues
    typealias Reply = NoValues
    static let interface: InterfaceName = "org.example.Nowhere"
    static let member: MemberName = "Nothing"
}

private enum Unknown: BusMethod {
    typealias Arguments = NoValues
    typealias Reply = NoValues
    static let interface = Sample.interface
    static let member: MemberName = "Unknown"
}

private enum Introspect: BusMethod {
    typealias Arguments = NoValues
    typealias Reply = Single<String>
    static let interface: InterfaceName = "org.freedesktop.DBus.Introspectable"
    static let member: MemberName = "Introspect"
}

private enum Ping: BusMethod {
    typealias Arguments = NoValues
    typealias Reply = NoValues
    static let interface: InterfaceName = "org.freedesktop.DBus.Peer"
    static let member: MemberName = "Ping"
}

private enum SetProperty: BusMethod {
    struct Arguments: BusBody {
        static let parameters = [
            BusParameter("interface", String.self), BusParameter("name", String.self),
            BusParameter("value", BusValue.self),
        ]
        let interface: String
        let name: String
        init(_ interface: String, _ name: String) {
            (self.interface, self.name) = (interface, name)
        }
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            interface = try reader.read()
            name = try reader.read()
            _ = try reader.read(BusValue.self)
        }
        func encode(to writer: inout MessageWriter) {
            writer.write(interface)
            writer.write(name)
            writer.write(BusValue.byte(1))
        }
    }
    typealias Reply = NoValues
    static let interface: InterfaceName = "org.freedesktop.DBus.Properties"
    static let member: MemberName = "Set"
}

@Suite(.timeLimit(.minutes(1))) struct `A served object` {
    @Test func `refuses what it does not have with the standard errors`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Ask.self) { arguments, _ in arguments } }
            let (none, path) = (NoValues(), Sample.path)
            #expect(await pair.error(of: Ask.self, none) == nil)
            #expect(await pair.error(of: Ask.self, none, at: "/elsewhere") == .unknownObject)
            #expect(await pair.error(of: Ask.self, none, at: "/org/example") == .unknownInterface)
            #expect(await pair.error(of: Anything.self, none, at: path) == .unknownInterface)
            #expect(await pair.error(of: Unknown.self, none, at: path) == .unknownMethod)
            #expect(await pair.error(of: Ping.self, none, at: "/elsewhere") == nil)
        }
    }

    @Test func `is not there any more when it was taken back`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Ask.self) { arguments, _ in arguments } }
            pair.server.unexport(Sample.path)
            pair.server.unexport(Sample.path)
            #expect(await pair.error(of: Ask.self, NoValues()) == .unknownObject)
        }
    }

    @Test func `passes its handler's error on`() async throws {
        try await withPair { pair in
            pair.serve {
                $0.serve(Ask.self) { _, _ throws(BusError) in throw BusError(.notSupported, "no") }
            }
            await #expect(throws: BusError(.notSupported, "no")) {
                try await pair.call(Ask.self, NoValues())
            }
        }
    }

    @Test func `knows its caller and whether a question may be asked`() async throws {
        try await withPair { pair in
            let seen = Journal<Bool>()
            let client = pair.client.uniqueName
            pair.serve {
                $0.serve(Ask.self) { arguments, call in
                    #expect(call.sender == client)
                    seen.add(call.allowsInteraction)
                    return arguments
                }
            }
            for interactive in [true, false] {
                _ = try await pair.client.call(
                    Ask.self, NoValues(), of: .peer(pair.server.uniqueName), at: Sample.path,
                    deadline: .seconds(30), interactive: interactive)
            }
            #expect(seen.entries == [true, false])
        }
    }

    @Test func `tells its properties, and only those`() async throws {
        try await withPair { pair in
            pair.serve {
                $0.has(BusProperty("Size", "u") { .uint32(7) })
                $0.has(BusProperty("Name", "s", .constant) { .string("x") })
            }
            let sample = Sample.interface.rawValue
            func get(_ interface: String, _ name: String) -> GetProperty.Arguments {
                GetProperty.Arguments(interface: interface, property: name)
            }
            for interface in [sample, ""] {
                let size = try await pair.call(GetProperty.self, get(interface, "Size")).value
                #expect(size == .uint32(7))
                let all = try await pair.call(GetAllProperties.self, Single(interface)).value
                #expect(all == ["Size": .uint32(7), "Name": .string("x")])
            }
            #expect(
                await pair.error(of: GetProperty.self, get(sample, "Other")) == .unknownProperty)
            #expect(
                await pair.error(of: GetProperty.self, get("org.example.Other", "Size"))
                    == .unknownInterface)
            #expect(
                await pair.error(of: GetAllProperties.self, Single("org.example.Other"))
                    == .unknownInterface)
            #expect(
                await pair.error(of: SetProperty.self, SetProperty.Arguments(sample, "Size"))
                    == .propertyReadOnly)
            #expect(
                await pair.error(of: SetProperty.self, SetProperty.Arguments(sample, "Other"))
                    == .unknownProperty)
        }
    }

    @Test func `tells of the objects below it as they come and go`() async throws {
        try await withPair { pair in
            pair.server.export(
                BusObject(Sample.path, [BusInterface(Sample.interface)], isManager: true))
            let service = RemoteService(Sample.name, on: pair.client)
            let (added, removed) = (Journal<ObjectPath>(), Journal<ObjectPath>())
            service.onSignal(InterfacesAdded.self) { signal, _ in
                #expect(signal.interfaces == ["org.example.Below": ["P": .byte(1)]])
                added.add(signal.path)
            }
            service.onSignal(InterfacesRemoved.self) { signal, _ in
                #expect(signal.interfaces == ["org.example.Below"])
                removed.add(signal.path)
            }
            #expect(try await pair.server.requestName(Sample.name))
            await service.findOwner()
            var interface = BusInterface("org.example.Below")
            interface.has(BusProperty("P", "y") { .byte(1) })
            pair.server.export(BusObject("/org/example/Sample/below/1", [interface]))
            await added.reaches(1)
            let objects = try await pair.call(GetManagedObjects.self, NoValues()).value
            #expect(
                objects == ["/org/example/Sample/below/1": ["org.example.Below": ["P": .byte(1)]]])
            pair.server.unexport("/org/example/Sample/below/1")
            await removed.reaches(1)
            #expect(added.entries == removed.entries)
            #expect(try await pair.call(GetManagedObjects.self, NoValues()).value.isEmpty)
        }
    }

    @Test func `is introspected as it is served`() async throws {
        try await withPair { pair in
            pair.serve {
                $0.serve(Echo<[String: BusValue]>.self) { arguments, _ in arguments }
                $0.serve(Ask.self) { arguments, _ in arguments }
                $0.sends(Told.self)
                $0.has(BusProperty("Size", "u", .constant) { .uint32(7) })
            }
            pair.server.export(BusObject("/org/example/Sample/below/1", []))
            let xml = try await pair.call(Introspect.self, NoValues()).value
            let start = try #require(xml.range(of: "  <interface name=\"org.example.Sample\">"))
            let end = try #require(
                xml.range(of: "</interface>", range: start.lowerBound..<xml.endIndex))
            #expect(
                xml[start.lowerBound..<end.upperBound] == """
                      <interface name="org.example.Sample">
                        <method name="Echo">
                          <arg type="a{sv}" name="value" direction="in"/>
                          <arg type="a{sv}" name="value" direction="out"/>
                        </method>
                        <method name="Ask"/>
                        <signal name="Told">
                          <arg type="s" name="value"/>
                        </signal>
                        <property name="Size" type="u" access="read">
                          <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" \
                    value="const"/>
                        </property>
                      </interface>
                    """)
            #expect(nodes(xml) == ["below"])
            for (path, below) in [
                ("/", "org"), ("/org", "example"), ("/org/example", "Sample"),
                ("/org/example/Sample/below", "1"),
            ] {
                let at = try #require(ObjectPath(path))
                let xml = try await pair.call(Introspect.self, NoValues(), at: at).value
                #expect(nodes(xml) == [below])
            }
            #expect(await pair.error(of: Introspect.self, NoValues(), at: "/x") == .unknownObject)
        }
    }

    private func nodes(_ xml: String) -> [String] {
        xml.split(separator: "\n").filter { $0.contains("<node name=") }
            .compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
    }
}
