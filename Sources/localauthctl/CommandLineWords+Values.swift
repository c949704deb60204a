// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import SystemSupport

// What the options' values mean, or what is wrong with them.

extension CommandLineWords {
    var format: OutputFormat {
        get throws(Invocation.Failure) {
            switch (flags.contains(.json), flags.contains(.quiet)) {
            case (false, false): return .plain
            case (true, false): return .json
            case (false, true): return .quiet
            case (true, true): throw Invocation.Failure(message: "either --json or --quiet")
            }
        }
    }

    var policy: PolicyChoice? {
        get throws(Invocation.Failure) {
            guard let text = values[.policy] else { return nil }
            guard let policy = PolicyChoice(text) else {
                throw Invocation.Failure(message: "--policy takes biometrics or any, not \(text)")
            }
            return policy
        }
    }

    /// An empty name means oneself on the bus; here it is more likely a variable that was not set.
    var user: String? {
        get throws(Invocation.Failure) {
            guard values[.user] != "" else {
                throw Invocation.Failure(message: "--user takes the name of an account")
            }
            return values[.user]
        }
    }

    var reader: ObjectPath? {
        get throws(Invocation.Failure) {
            guard let text = values[.reader] else { return nil }
            guard let path = ObjectPath(text) else {
                throw Invocation.Failure(
                    message: "--reader takes an object path as 'status' shows it, not \(text)")
            }
            return path
        }
    }

    var limit: UInt32? {
        get throws(Invocation.Failure) {
            guard let text = values[.limit] else { return nil }
            guard let limit = UInt32(text), limit > 0 else {
                throw Invocation.Failure(message: "--limit takes a number, from 1")
            }
            return limit
        }
    }

    var timeout: UInt32? {
        get throws(Invocation.Failure) {
            guard let text = values[.timeout] else { return nil }
            guard let seconds = UInt32(text), (1...170).contains(seconds) else {
                throw Invocation.Failure(message: "--timeout takes seconds, from 1 to 170")
            }
            return seconds
        }
    }

    var reuse: UInt32? {
        get throws(Invocation.Failure) {
            guard let text = values[.reuse] else { return nil }
            guard let seconds = UInt32(text), seconds <= 300 else {
                throw Invocation.Failure(message: "--reuse takes seconds, at most 300")
            }
            return seconds
        }
    }

    /// Hexadecimal digits, two for each byte.
    func bytes(
        _ option: OptionName, _ sizes: ClosedRange<Int>
    ) throws(Invocation.Failure) -> [UInt8]? {
        guard let text = values[option] else { return nil }
        guard let bytes = [UInt8](hexadecimal: text), sizes.contains(bytes.count) else {
            throw Invocation.Failure(
                message: "--\(option.rawValue) takes hexadecimal digits, "
                    + "of \(sizes.lowerBound) to \(sizes.upperBound) bytes")
        }
        return bytes
    }

    var evaluation: EvaluationChoice {
        get throws(Invocation.Failure) {
            var choice = EvaluationChoice()
            choice.policy = try policy ?? choice.policy
            choice.reason = values[.reason] ?? choice.reason
            choice.token = values[.token]
            choice.user = try user
            choice.timeout = try timeout
            choice.fallbackTitle = values[.fallbackTitle]
            choice.cancelTitle = values[.cancelTitle]
            choice.isInteractionForbidden = flags.contains(.noInteraction)
            choice.reuse = try reuse
            choice.challenge = try bytes(.challenge, 16...64)
            choice.requiredState = try bytes(.requiredState, 1...64)
            return choice
        }
    }
}
