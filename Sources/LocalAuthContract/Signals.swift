// SPDX-License-Identifier: Apache-2.0

package import DBusBinding

/// `Progress(s token, s state)`, to the caller and the user's watchers.
package enum ProgressSignal: BusSignal {
    package static let interface = Service.interface
    package static let member: MemberName = "Progress"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("token", String.self), BusParameter("state", String.self),
        ]
        package var token: String
        package var state: String
        package init(token: String, state: String) {
            self.token = token
            self.state = state
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            token = try reader.read()
            state = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(token)
            writer.write(state)
        }
    }
}

/// `Retry(s token, s cause, u attempts_left, s message)`, to the caller and the user's watchers.
package enum RetrySignal: BusSignal {
    package static let interface = Service.interface
    package static let member: MemberName = "Retry"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("token", String.self), BusParameter("cause", String.self),
            BusParameter("attempts_left", UInt32.self), BusParameter("message", String.self),
        ]
        package var token: String
        package var cause: String
        package var attemptsLeft: UInt32
        package var message: String
        package init(token: String, cause: String, attemptsLeft: UInt32, message: String) {
            self.token = token
            self.cause = cause
            self.attemptsLeft = attemptsLeft
            self.message = message
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            token = try reader.read()
            cause = try reader.read()
            attemptsLeft = try reader.read()
            message = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(token)
            writer.write(cause)
            writer.write(attemptsLeft)
            writer.write(message)
        }
    }
}

/// `Lockout(b locked_out, u attempts_left, u seconds_left)`, to the caller and the user's
/// watchers.
package enum LockoutSignal: BusSignal {
    package static let interface = Service.interface
    package static let member: MemberName = "Lockout"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("locked_out", Bool.self), BusParameter("attempts_left", UInt32.self),
            BusParameter("seconds_left", UInt32.self),
        ]
        package var lockedOut: Bool
        package var attemptsLeft: UInt32
        package var secondsLeft: UInt32
        package init(lockedOut: Bool, attemptsLeft: UInt32, secondsLeft: UInt32) {
            self.lockedOut = lockedOut
            self.attemptsLeft = attemptsLeft
            self.secondsLeft = secondsLeft
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            lockedOut = try reader.read()
            attemptsLeft = try reader.read()
            secondsLeft = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(lockedOut)
            writer.write(attemptsLeft)
            writer.write(secondsLeft)
        }
    }
}

/// `EnvironmentChanged()`, to everybody, without content.
package enum EnvironmentChangedSignal: BusSignal {
    package static let interface = Service.interface
    package static let member: MemberName = "EnvironmentChanged"
    package typealias Arguments = NoValues
}

/// `EnrollProgress(s token, u done, u total, s cause)`, to the caller of `EnrollFinger`.
package enum EnrollProgressSignal: BusSignal {
    package static let interface = Service.managementInterface
    package static let member: MemberName = "EnrollProgress"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("token", String.self), BusParameter("done", UInt32.self),
            BusParameter("total", UInt32.self), BusParameter("cause", String.self),
        ]
        package var token: String
        package var done: UInt32
        package var total: UInt32
        package var cause: String
        package init(token: String, done: UInt32, total: UInt32, cause: String) {
            self.token = token
            self.done = done
            self.total = total
            self.cause = cause
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            token = try reader.read()
            done = try reader.read()
            total = try reader.read()
            cause = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(token)
            writer.write(done)
            writer.write(total)
            writer.write(cause)
        }
    }
}
