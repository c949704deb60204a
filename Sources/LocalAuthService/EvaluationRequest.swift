// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// What the user is asked for.
enum EvaluationPurpose: String, Sendable {
    /// An application's `EvaluatePolicy`.
    case evaluate
    /// A finger is to be enrolled or deleted, which only the password allows.
    case enroll
    case delete
}

/// What is to be evaluated. What `EvaluatePolicy` was asked is checked here, before anything else
/// happens.
struct EvaluationRequest: Sendable {
    /// Whether the request is the service's own: the caller has been let in then, and asks for
    /// nothing but the password.
    var purpose = EvaluationPurpose.evaluate
    var policy: Policy
    var reason: Reason
    var token = ""
    var timeout: Duration
    var interactionNotAllowed = false
    /// How old an earlier success may be that is accepted; zero: none is.
    var reuseDuration: Duration = .zero
    var requiredDomainState: [UInt8]?
    /// What the ticket is to be bound to, if there is to be one.
    var challenge: [UInt8]?
    /// The evaluated user, if it was named.
    var user: UserName?
    /// The fallback button's title; empty: there is no such button.
    var fallbackTitle: String?
    /// The cancel button's title; empty: the agent's own.
    var cancelTitle = ""
    var parentWindow = ""

    var requirement: Requirement { purpose == .evaluate ? Requirement(policy) : .password }

    /// Whether the prompt has a fallback button: what it does is up to the policy.
    var hasFallback: Bool { fallbackTitle != "" }

    /// The caller's own password, before its prints are changed.
    init(passwordTo purpose: EvaluationPurpose, within timeout: Duration) {
        self.purpose = purpose
        policy = .deviceOwnerAuthentication
        reason = purpose == .delete ? .deletion : .enrolment
        self.timeout = timeout
    }

    init(
        _ arguments: EvaluatePolicy.Arguments, defaultTimeout: Duration
    ) throws(BusError) {
        policy = try Policy(wire: arguments.policy)
        reason = try Self.reason(arguments.localizedReason)
        timeout = defaultTimeout
        // In a fixed order, so that of several faults always the same one is named.
        for (key, value) in arguments.options.sorted(by: { $0.key < $1.key }) {
            guard let option = EvaluationOption(rawValue: key) else {
                throw BusError(.invalidArgs, "unknown option \(quoted(key))")
            }
            try take(option, value)
        }
    }

    private static func reason(_ text: String) throws(BusError) -> Reason {
        do throws(Reason.Failure) {
            return try Reason(text)
        } catch {
            let why =
                switch error {
                case .empty: "the reason is empty"
                case .tooLong: "the reason is longer than \(Reason.limit) bytes"
                }
            throw BusError(.invalidArgs, why)
        }
    }

    private mutating func take(_ option: EvaluationOption, _ value: BusValue) throws(BusError) {
        switch (option, value) {
        case (.token, .string(let token)):
            try check(token.utf8.count <= 64, option, "at most 64 bytes")
            self.token = token
        case (.timeout, .uint32(let seconds)):
            try check((1...170).contains(seconds), option, "from 1 to 170 seconds")
            timeout = .seconds(Int64(seconds))
        case (.interactionNotAllowed, .bool(let flag)): interactionNotAllowed = flag
        case (.user, .string(let name)):
            guard let name = UserName(name) else {
                throw BusError(.invalidArgs, "option user: no account can have that name")
            }
            user = name
        case (.fallbackTitle, .string(let text)): fallbackTitle = try title(text, option)
        case (.cancelTitle, .string(let text)): cancelTitle = try title(text, option)
        case (.parentWindow, .string(let text)): parentWindow = try title(text, option)
        case (.reuseDuration, .uint32(let seconds)):
            try check(seconds <= 300, option, "at most 300 seconds")
            reuseDuration = .seconds(Int64(seconds))
        // Of any length: what no state can be is not the one that there is.
        case (.requiredDomainState, .bytes(let state)): requiredDomainState = state
        case (.challenge, .bytes(let challenge)):
            try check(
                TicketLedger.challengeSizes.contains(challenge.count), option, "16 to 64 bytes")
            self.challenge = challenge
        case (.token, _), (.timeout, _), (.interactionNotAllowed, _), (.user, _),
            (.fallbackTitle, _), (.cancelTitle, _), (.parentWindow, _), (.reuseDuration, _),
            (.requiredDomainState, _), (.challenge, _):
            throw BusError(
                .invalidArgs,
                "option \(option.rawValue) takes \(option.signature), not \(value.typeSignature)")
        }
    }

    /// A text for the prompt, as it may be shown.
    private func title(
        _ text: String, _ option: EvaluationOption
    ) throws(BusError) -> String {
        try check(text.utf8.count <= Reason.limit, option, "at most \(Reason.limit) bytes")
        return harmlessText(text, limit: Reason.limit)
    }

    private func check(
        _ isRight: Bool, _ option: EvaluationOption, _ rule: String
    ) throws(BusError) {
        guard isRight else {
            throw BusError(.invalidArgs, "option \(option.rawValue): \(rule)")
        }
    }
}

extension EvaluationOption {
    /// The D-Bus type of the option's value.
    var signature: String {
        switch self {
        case .token, .fallbackTitle, .cancelTitle, .parentWindow, .user: "s"
        case .timeout, .reuseDuration: "u"
        case .interactionNotAllowed: "b"
        case .requiredDomainState, .challenge: "ay"
        }
    }
}

extension Policy {
    /// The policy that a number stands for.
    init(wire: UInt32) throws(BusError) {
        guard let policy = Policy(rawValue: wire) else {
            throw BusError(.invalidArgs, "there is no policy \(wire)")
        }
        self = policy
    }
}

/// A caller's text as part of an error message: short, on one line, in quotes.
func quoted(_ text: String) -> String {
    let shown = text.unicodeScalars.prefix(64).map { scalar in
        scalar.value < 0x20 || scalar.value == 0x7f ? "?" : String(scalar)
    }
    return "'" + shown.joined() + "'"
}
