// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// What an evaluation that succeeded says.
struct EvaluationSuccess: Hashable, Sendable {
    let method: AuthenticationMethod
    let authenticatedAt: BootTime
    /// The caller's domain state at the success; `nil` when it could not be found out.
    var domainState: [UInt8]?
    /// With a challenge, the ticket for it.
    var ticket: [UInt8]?
}

/// What makes and keeps what goes with a success.
@BusQueue struct AttestationServices {
    let states: DomainStates
    let successes: SuccessMemory
    let tickets: TicketKeeper
}

/// What one evaluation's success is held against, and what goes with it: the state of enrolment, an
/// earlier success, the ticket.
@BusQueue final class Attestation {
    private let request: EvaluationRequest
    private let services: AttestationServices
    private let prints: PrintIndex
    private var program: CallerProgram?
    private var domainState: [UInt8]?
    private var earlier: PastSuccess?

    init(_ request: EvaluationRequest, _ services: AttestationServices, prints: PrintIndex) {
        self.request = request
        self.services = services
        self.prints = prints
    }

    /// Before the user is asked for anything: whether an earlier success of the caller is accepted.
    /// - Throws: `domainStateChanged` where another one is required; `notInteractive` where the
    ///   user must not be asked and would have to be.
    func accepts(
        _ caller: Caller, for account: Account, named program: Task<CallerProgram?, Never>?
    ) async throws(EvaluationError) -> Bool {
        if request.requiredDomainState != nil { try await checkState(of: account, program) }
        if reusable(of: caller, for: account) != nil {
            // What is told with it is found out first; the success may be forgotten meanwhile.
            if domainState == nil { await findState(of: account, program) }
            earlier = reusable(of: caller, for: account)
        }
        if earlier == nil, request.interactionNotAllowed { throw .notInteractive }
        return earlier != nil
    }

    /// The user has been authenticated: looks once more, and finds out what is told.
    /// - Throws: `domainStateChanged` where another one is required.
    func confirm(
        _ account: Account, named program: Task<CallerProgram?, Never>?
    ) async throws(EvaluationError) {
        if request.requiredDomainState != nil {
            // From disk: the finger may be one that was put there a moment ago.
            await prints.refresh(account.name)
            try await checkState(of: account, program)
        } else {
            await findState(of: account, program)
        }
    }

    /// The success, which is remembered: by what the user did, or the earlier one; `nil` when there
    /// is neither.
    func success(
        of caller: Caller, as account: Account,
        by proof: (method: AuthenticationMethod, at: BootTime)?
    ) -> EvaluationSuccess? {
        guard let (method, time) = earlier.map({ (.reused, $0.at) }) ?? proof else { return nil }
        var success = EvaluationSuccess(
            method: method, authenticatedAt: time, domainState: domainState)
        // The password that a change of prints takes is good for that change alone.
        guard request.purpose == .evaluate else { return success }
        services.successes.remember(
            PastSuccess(of: account, by: method, at: time), of: caller,
            wanted: request.reuseDuration)
        if let challenge = request.challenge {
            success.ticket = services.tickets.issue(
                for: TicketClaims(
                    account: account, policy: request.policy, method: method,
                    authenticatedAt: time, caller: caller.connection, program: program),
                challenge: challenge)
        }
        return success
    }

    private func reusable(of caller: Caller, for account: Account) -> PastSuccess? {
        services.successes.success(
            of: caller, for: account, under: request.policy, within: request.reuseDuration)
    }

    private func findState(of account: Account, _ program: Task<CallerProgram?, Never>?) async {
        self.program = await program?.value
        domainState = await services.states.state(of: account, for: self.program)
    }

    private func checkState(
        of account: Account, _ program: Task<CallerProgram?, Never>?
    ) async throws(EvaluationError) {
        await findState(of: account, program)
        // That it could not be found out is not the same as another one.
        guard let domainState else { throw .biometryNotAvailable }
        guard let required = request.requiredDomainState, isSameSecret(required, domainState)
        else { throw .domainStateChanged }
    }
}
