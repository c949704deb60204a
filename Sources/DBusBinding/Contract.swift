// SPDX-License-Identifier: Apache-2.0

/// One named value of a method's or signal's body.
package struct BusParameter: Hashable, Sendable {
    package let name: String
    package let signature: String

    package init<T: BusType>(_ name: String, _ type: T.Type) {
        self.name = name
        signature = T.signature
    }
}

/// The whole body of a message: its values in order.
package protocol BusBody: Sendable {
    static var parameters: [BusParameter] { get }
    /// The body's signature. Conforming types of the hot way store it.
    static var signature: String { get }
    init(from reader: inout MessageReader) throws(DecodingFailure)
    func encode(to writer: inout MessageWriter)
}

extension BusBody {
    package static var signature: String { parameters.map(\.signature).joined() }
}

/// A body without values.
package struct NoValues: BusBody, Hashable {
    package static let parameters: [BusParameter] = []
    package init() {}
    package init(from reader: inout MessageReader) {}
    package func encode(to writer: inout MessageWriter) {}
}

/// A body of one value that needs no name of its own in Swift.
package struct Single<Value: BusType>: BusBody {
    package static var parameters: [BusParameter] { [BusParameter("value", Value.self)] }
    package static var signature: String { Value.signature }
    package let value: Value
    package init(_ value: Value) { self.value = value }
    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        value = try reader.read()
    }
    package func encode(to writer: inout MessageWriter) { writer.write(value) }
}

/// A method of an interface: the one declaration that the serving and the calling side use.
package protocol BusMethod {
    associatedtype Arguments: BusBody
    associatedtype Reply: BusBody
    static var interface: InterfaceName { get }
    static var member: MemberName { get }
}

/// A signal of an interface.
package protocol BusSignal {
    associatedtype Arguments: BusBody
    static var interface: InterfaceName { get }
    static var member: MemberName { get }
}
