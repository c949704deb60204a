// SPDX-License-Identifier: Apache-2.0

package import DBusBinding

/// `CanEvaluatePolicy(u policy) -> (b can_evaluate, i code, s message)`.
package enum CanEvaluatePolicy: BusMethod {
    package static let interface = Service.interface
    package static let member: MemberName = "CanEvaluatePolicy"

    package struct Arguments: BusBody {
        package static let parameters = [BusParameter("policy", UInt32.self)]
        package static let signature = "u"
        package var policy: UInt32
        package init(policy: UInt32) { self.policy = policy }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            policy = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) { writer.write(policy) }
    }

    package struct Reply: BusBody, Hashable {
        package static let parameters = [
            BusParameter("can_evaluate", Bool.self), BusParameter("code", Int32.self),
            BusParameter("message", String.self),
        ]
        package static let signature = "bis"
        package var canEvaluate: Bool
        package var code: Int32
        package var message: String
        package init(canEvaluate: Bool, code: Int32, message: String) {
            self.canEvaluate = canEvaluate
            self.code = code
            self.message = message
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            canEvaluate = try reader.read()
            code = try reader.read()
            message = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(canEvaluate)
            writer.write(code)
            writer.write(message)
        }
    }
}

/// `EvaluatePolicy(u policy, s localized_reason, a{sv} options) -> (a{sv} result)`.
package enum EvaluatePolicy: BusMethod {
    package static let interface = Service.interface
    package static let member: MemberName = "EvaluatePolicy"

    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("policy", UInt32.self), BusParameter("localized_reason", String.self),
            BusParameter("options", [String: BusValue].self),
        ]
        package static let signature = "usa{sv}"
        package var policy: UInt32
        package var localizedReason: String
        package var options: [String: BusValue]
        package init(policy: UInt32, localizedReason: String, options: [String: BusValue]) {
            self.policy = policy
            self.localizedReason = localizedReason
            self.options = options
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            policy = try reader.read()
            localizedReason = try reader.read()
            options = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(policy)
            writer.write(localizedReason)
            writer.write(options)
        }
    }

    package struct Reply: BusBody {
        package static let parameters = [BusParameter("result", [String: BusValue].self)]
        package static let signature = "a{sv}"
        package var result: [String: BusValue]
        package init(result: [String: BusValue]) { self.result = result }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            result = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) { writer.write(result) }
    }
}

/// `Cancel(s token)`.
package enum Cancel: BusMethod {
    package static let interface = Service.interface
    package static let member: MemberName = "Cancel"
    package struct Arguments: BusBody {
        package static let parameters = [BusParameter("token", String.self)]
        package var token: String
        package init(token: String) { self.token = token }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            token = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) { writer.write(token) }
    }
    package typealias Reply = NoValues
}

/// `GetEnvironment() -> (a{sv} environment)`.
package enum GetEnvironment: BusMethod {
    package static let interface = Service.interface
    package static let member: MemberName = "GetEnvironment"
    package typealias Arguments = NoValues
    package struct Reply: BusBody {
        package static let parameters = [BusParameter("environment", [String: BusValue].self)]
        package var environment: [String: BusValue]
        package init(environment: [String: BusValue]) { self.environment = environment }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            environment = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) { writer.write(environment) }
    }
}

/// `RedeemTicket(ay ticket, ay challenge) -> (a{sv} claims)`.
package enum RedeemTicket: BusMethod {
    package static let interface = Service.interface
    package static let member: MemberName = "RedeemTicket"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("ticket", [UInt8].self), BusParameter("challenge", [UInt8].self),
        ]
        package var ticket: [UInt8]
        package var challenge: [UInt8]
        package init(ticket: [UInt8], challenge: [UInt8]) {
            self.ticket = ticket
            self.challenge = challenge
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            ticket = try reader.read()
            challenge = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(ticket)
            writer.write(challenge)
        }
    }
    package struct Reply: BusBody {
        package static let parameters = [BusParameter("claims", [String: BusValue].self)]
        package var claims: [String: BusValue]
        package init(claims: [String: BusValue]) { self.claims = claims }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            claims = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) { writer.write(claims) }
    }
}

/// `Watch()`.
package enum Watch: BusMethod {
    package static let interface = Service.interface
    package static let member: MemberName = "Watch"
    package typealias Arguments = NoValues
    package typealias Reply = NoValues
}

/// `Unwatch()`.
package enum Unwatch: BusMethod {
    package static let interface = Service.interface
    package static let member: MemberName = "Unwatch"
    package typealias Arguments = NoValues
    package typealias Reply = NoValues
}
