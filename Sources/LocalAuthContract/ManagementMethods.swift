// SPDX-License-Identifier: Apache-2.0

package import DBusBinding

/// `ListFingers(s user) -> (as fingers)`.
package enum ListFingers: BusMethod {
    package static let interface = Service.managementInterface
    package static let member: MemberName = "ListFingers"
    package typealias Arguments = UserArgument
    package struct Reply: BusBody {
        package static let parameters = [BusParameter("fingers", [String].self)]
        package var fingers: [String]
        package init(fingers: [String]) { self.fingers = fingers }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            fingers = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) { writer.write(fingers) }
    }
}

/// `EnrollFinger(s user, s finger, a{sv} options)`.
package enum EnrollFinger: BusMethod {
    package static let interface = Service.managementInterface
    package static let member: MemberName = "EnrollFinger"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("user", String.self), BusParameter("finger", String.self),
            BusParameter("options", [String: BusValue].self),
        ]
        package var user: String
        package var finger: String
        package var options: [String: BusValue]
        package init(user: String, finger: String, options: [String: BusValue]) {
            self.user = user
            self.finger = finger
            self.options = options
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            user = try reader.read()
            finger = try reader.read()
            options = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(user)
            writer.write(finger)
            writer.write(options)
        }
    }
    package typealias Reply = NoValues
}

/// `DeleteFingers(s user, as fingers)`.
package enum DeleteFingers: BusMethod {
    package static let interface = Service.managementInterface
    package static let member: MemberName = "DeleteFingers"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("user", String.self), BusParameter("fingers", [String].self),
        ]
        package var user: String
        package var fingers: [String]
        package init(user: String, fingers: [String]) {
            self.user = user
            self.fingers = fingers
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            user = try reader.read()
            fingers = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(user)
            writer.write(fingers)
        }
    }
    package typealias Reply = NoValues
}

/// `EraseReader(o reader)`.
package enum EraseReader: BusMethod {
    package static let interface = Service.managementInterface
    package static let member: MemberName = "EraseReader"
    package struct Arguments: BusBody {
        package static let parameters = [BusParameter("reader", ObjectPath.self)]
        package var reader: ObjectPath
        package init(reader: ObjectPath) { self.reader = reader }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            self.reader = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) { writer.write(reader) }
    }
    package typealias Reply = NoValues
}

/// `ResetLockout(s user)`.
package enum ResetLockout: BusMethod {
    package static let interface = Service.managementInterface
    package static let member: MemberName = "ResetLockout"
    package typealias Arguments = UserArgument
    package typealias Reply = NoValues
}

/// `GetHistory(s user, u limit) -> (aa{sv} entries)`.
package enum GetHistory: BusMethod {
    package static let interface = Service.managementInterface
    package static let member: MemberName = "GetHistory"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("user", String.self), BusParameter("limit", UInt32.self),
        ]
        package var user: String
        package var limit: UInt32
        package init(user: String, limit: UInt32) {
            self.user = user
            self.limit = limit
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            user = try reader.read()
            limit = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(user)
            writer.write(limit)
        }
    }
    package struct Reply: BusBody {
        package static let parameters = [BusParameter("entries", [[String: BusValue]].self)]
        package var entries: [[String: BusValue]]
        package init(entries: [[String: BusValue]]) { self.entries = entries }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            entries = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) { writer.write(entries) }
    }
}

/// One account's name; empty means the caller's own.
package struct UserArgument: BusBody {
    package static let parameters = [BusParameter("user", String.self)]
    package var user: String
    package init(user: String) { self.user = user }
    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        user = try reader.read()
    }
    package func encode(to writer: inout MessageWriter) { writer.write(user) }
}
