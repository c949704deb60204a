// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding

/// logind's D-Bus interface: org.freedesktop.login1(5).
enum Logind {
    static let name: BusName = "org.freedesktop.login1"
    static let manager: InterfaceName = "org.freedesktop.login1.Manager"
    static let managerPath: ObjectPath = "/org/freedesktop/login1"
    static let session = "org.freedesktop.login1.Session"
    static let user = "org.freedesktop.login1.User"

    enum GetSessionByPID: BusMethod {
        static let interface = manager
        static let member: MemberName = "GetSessionByPID"
        typealias Arguments = Single<UInt32>
        typealias Reply = Single<ObjectPath>
    }

    enum GetUser: BusMethod {
        static let interface = manager
        static let member: MemberName = "GetUser"
        typealias Arguments = Single<UInt32>
        typealias Reply = Single<ObjectPath>
    }

    enum SessionNew: BusSignal {
        static let interface = manager
        static let member: MemberName = "SessionNew"
        typealias Arguments = SessionArguments
    }

    enum SessionRemoved: BusSignal {
        static let interface = manager
        static let member: MemberName = "SessionRemoved"
        typealias Arguments = SessionArguments
    }

    struct SessionArguments: BusBody {
        static let parameters = [
            BusParameter("session_id", String.self), BusParameter("object_path", ObjectPath.self),
        ]
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            _ = try reader.read(String.self)
            _ = try reader.read(ObjectPath.self)
        }
        func encode(to writer: inout MessageWriter) {}
    }

    /// `Inhibit(s what, s who, s why, s mode) -> (h)`: the lock lasts as long as the descriptor
    /// is open.
    enum Inhibit: BusMethod {
        static let interface = manager
        static let member: MemberName = "Inhibit"
        typealias Reply = Single<SharedDescriptor>
        struct Arguments: BusBody {
            static let parameters = [
                BusParameter("what", String.self), BusParameter("who", String.self),
                BusParameter("why", String.self), BusParameter("mode", String.self),
            ]
            let texts: [String]
            init(what: String, who: String, why: String, mode: String) {
                texts = [what, who, why, mode]
            }
            init(from reader: inout MessageReader) throws(DecodingFailure) {
                texts = [
                    try reader.read(), try reader.read(), try reader.read(), try reader.read(),
                ]
            }
            func encode(to writer: inout MessageWriter) {
                for text in texts { writer.write(text) }
            }
        }
    }

    /// `PrepareForSleep(b start)`: true before the machine sleeps, false when it is awake again.
    enum PrepareForSleep: BusSignal {
        static let interface = manager
        static let member: MemberName = "PrepareForSleep"
        typealias Arguments = Single<Bool>
    }
}
