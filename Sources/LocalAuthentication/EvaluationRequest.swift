// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

/// What of a context's properties an evaluation takes along.
struct EvaluationSettings: Sendable {
    var fallbackTitle: String?
    var cancelTitle: String?
    var interactionNotAllowed = false
    /// Seconds, 0 to 300.
    var reuseDuration: TimeInterval = 0
}

/// One call of `EvaluatePolicy`.
struct EvaluationRequest: Sendable {
    let policy: LAPolicy
    let reason: String
    let settings: EvaluationSettings
    let options: LAEvaluationOptions

    func arguments(token: String) -> EvaluatePolicy.Arguments {
        var values: [EvaluationOption: BusValue] = [
            .token: .string(token), .timeout: .uint32(options.wholeSeconds),
        ]
        values[.fallbackTitle] = settings.fallbackTitle.map { .string($0) }
        values[.cancelTitle] = settings.cancelTitle.map { .string($0) }
        if settings.interactionNotAllowed { values[.interactionNotAllowed] = .bool(true) }
        if settings.reuseDuration >= 1 {
            values[.reuseDuration] = .uint32(UInt32(settings.reuseDuration))
        }
        values[.challenge] = options.challenge.map { .bytes([UInt8]($0)) }
        values[.requiredDomainState] = options.requiredDomainState.map { .bytes([UInt8]($0)) }
        if !options.parentWindow.isEmpty { values[.parentWindow] = .string(options.parentWindow) }
        values[.user] = options.user.map { .string($0) }
        return EvaluatePolicy.Arguments(
            policy: policy.wire, localizedReason: reason,
            options: Dictionary(
                uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) }))
    }
}

/// What ``LAContext/evaluate(_:localizedReason:options:onEvent:)`` can be told. Only on Linux.
public struct LAEvaluationOptions: Sendable {
    /// The longest that the service waits for the user.
    public static let maximumTimeout: TimeInterval = 170

    /// Seconds from the call to its end, waiting for others included; from 1 to
    /// ``maximumTimeout``, which is the default. What is outside is taken for the nearer of the two.
    /// It ends with `LAError.Code.systemCancel`.
    public var timeout: TimeInterval

    /// 16 to 64 random bytes, chosen anew each time by whoever is to check the success; the result
    /// then has a ticket. `nil` for none.
    public var challenge: Data?

    /// The state that the enrolled fingers must have: a ``LADomainState/Biometry/stateHash`` of
    /// before. With another one, the evaluation ends with `LAError.Code.authenticationFailed`, before
    /// the user is asked. `nil` for any.
    public var requiredDomainState: Data?

    /// The window that the prompt belongs to, as `x11:…` or `wayland:…`; empty for none.
    public var parentWindow: String

    /// The account that is to be authenticated, by name; `nil` for the one that the program runs as.
    /// For others an administrator's permission is needed.
    public var user: String?

    /// Makes options.
    ///
    /// - Parameters:
    ///   - timeout: see ``timeout``.
    ///   - challenge: see ``challenge``.
    ///   - requiredDomainState: see ``requiredDomainState``.
    ///   - parentWindow: see ``parentWindow``.
    ///   - user: see ``user``.
    public init(
        timeout: TimeInterval = LAEvaluationOptions.maximumTimeout, challenge: Data? = nil,
        requiredDomainState: Data? = nil, parentWindow: String = "", user: String? = nil
    ) {
        self.timeout = timeout
        self.challenge = challenge
        self.requiredDomainState = requiredDomainState
        self.parentWindow = parentWindow
        self.user = user
    }

    /// The time limit as the service takes it.
    var wholeSeconds: UInt32 {
        // Not a number is compared with everything in vain, and becomes the longest.
        timeout < Self.maximumTimeout ? UInt32(max(1, timeout.rounded(.up))) : 170
    }
}
