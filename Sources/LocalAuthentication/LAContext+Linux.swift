// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

// What Apple's class does not have.
extension LAContext {
    /// Asks the user, always, and says how the user was authenticated. Only on Linux.
    ///
    /// Unlike ``evaluatePolicy(_:localizedReason:)`` it does not take an earlier success in this
    /// context for the answer, and it can ask for a proof that another process can check.
    ///
    /// - Parameters:
    ///   - policy: what suffices.
    ///   - localizedReason: why the user is asked; see
    ///     ``evaluatePolicy(_:localizedReason:reply:)``.
    ///   - options: what else is wanted.
    ///   - onEvent: called on a private queue with what happens meanwhile, in order and before the
    ///     end.
    /// - Returns: how the user was authenticated.
    /// - Throws: an ``LAError`` for every other ending.
    public func evaluate(
        _ policy: LAPolicy, localizedReason: String,
        options: LAEvaluationOptions = LAEvaluationOptions(),
        onEvent: (@Sendable (LAEvaluationEvent) -> Void)? = nil
    ) async throws -> LAEvaluationResult {
        let evaluation = state.makeEvaluation(hear: onEvent)
        let success = try await state.outcome(of: evaluation) {
            state.begin(
                evaluation, policy, reason: localizedReason, options: options, reuses: false)
        }
        return LAEvaluationResult(success)
    }

    /// Checks the success of another process, once. Only on Linux.
    ///
    /// Whoever needs to know chooses a challenge of 16 to 64 random bytes, anew each time; the
    /// application gives it to ``evaluate(_:localizedReason:options:onEvent:)`` and brings the
    /// ticket of the result. A ticket can be redeemed within 30 seconds. Look at all claims that
    /// matter: whose finger it was, and by which policy.
    ///
    /// - Parameters:
    ///   - ticket: ``LAEvaluationResult/ticket``.
    ///   - challenge: the challenge that was chosen.
    /// - Returns: what the service says of the success.
    /// - Throws: an ``LAError``; with `LAError.Code.authenticationFailed` there is no such ticket, not
    ///   any more, or not for this challenge.
    public static func redeem(_ ticket: Data, challenge: Data) async throws -> LATicketClaims {
        try await redeem(ticket, challenge: challenge, link: .shared)
    }

    package static func redeem(
        _ ticket: Data, challenge: Data, link: ServiceLink
    ) async throws -> LATicketClaims {
        let answer = await link.inquire { await $0.redeem([UInt8](ticket), [UInt8](challenge)) }
        guard let claims = LATicketClaims(try answer.get()) else {
            throw LAError(.biometryNotAvailable, detail: "the claims do not say whose they are")
        }
        return claims
    }
}

extension ServiceLink {
    /// What a ticket says.
    fileprivate func redeem(
        _ ticket: [UInt8], _ challenge: [UInt8]
    ) async -> Result<[String: BusValue], LAError> {
        do throws(BusError) {
            let arguments = RedeemTicket.Arguments(ticket: ticket, challenge: challenge)
            return .success(try await call(RedeemTicket.self, arguments).claims)
        } catch {
            return .failure(LAError(error))
        }
    }
}

/// What a ticket says of the success that it was given for. Only on Linux.
public struct LATicketClaims: Sendable, Hashable {
    /// The user id of the account that was authenticated.
    public let uid: UInt32
    /// The name of that account.
    public let user: String
    /// The policy that was evaluated.
    public let policy: LAPolicy
    /// How the user was authenticated.
    public let method: LAAuthenticationMethod
    /// How long after the machine's start that was, as `CLOCK_BOOTTIME` counts.
    public let timeSinceBoot: Duration
    /// What the program that asked is called; empty when that is not known.
    public let callerProgram: String
    /// How that is known: `sandbox`, `label`, or `unverified`, which any program of the same user
    /// can give itself; empty when it is not known.
    public let callerEvidence: String

    /// `nil` where something that matters is not said.
    init?(_ claims: [String: BusValue]) {
        let claims = BusDictionary<TicketClaim>(claims)
        guard let uid = claims.uint32(.uid), let user = claims.string(.user),
            let policy = claims.uint32(.policy).flatMap({ LAPolicy(rawValue: Int($0)) }),
            let time = claims.uint64(.authenticatedAt)
        else { return nil }
        self.uid = uid
        self.user = user
        self.policy = policy
        method = LAAuthenticationMethod(wire: claims.string(.method))
        timeSinceBoot = .microseconds(Int64(clamping: time))
        callerProgram = claims.string(.callerProgram) ?? ""
        callerEvidence = claims.string(.callerEvidence) ?? ""
    }
}
