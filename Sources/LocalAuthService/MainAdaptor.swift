// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// Serves `org.example.LocalAuth`. Decodes, asks, hands over, encodes; decides nothing.
@BusQueue final class MainAdaptor {
    private let callers: CallerRegistry
    private let gate: Gate
    private let biometry: BiometryState
    private let feasibility: Feasibility
    private let agents: AgentRegistry
    private let passwords: any PasswordVerifying
    private let evaluations: EvaluationRunner
    private let tickets: TicketKeeper
    private let audience: Audience
    private let defaultTimeout: Duration
    private let version: String

    init(
        callers: CallerRegistry, gate: Gate, biometry: BiometryState, feasibility: Feasibility,
        agents: AgentRegistry, passwords: any PasswordVerifying,
        evaluations: EvaluationRunner, tickets: TicketKeeper, audience: Audience,
        defaultTimeout: Duration, version: String
    ) {
        self.callers = callers
        self.gate = gate
        self.biometry = biometry
        self.feasibility = feasibility
        self.agents = agents
        self.passwords = passwords
        self.evaluations = evaluations
        self.tickets = tickets
        self.audience = audience
        self.defaultTimeout = defaultTimeout
        self.version = version
    }

    var interface: BusInterface {
        var interface = BusInterface(Service.interface)
        interface.serve(CanEvaluatePolicy.self) { arguments, call throws(BusError) in
            try await self.canEvaluatePolicy(arguments, call)
        }
        interface.serve(EvaluatePolicy.self) { arguments, call throws(BusError) in
            try await self.evaluatePolicy(arguments, call)
        }
        interface.serve(Cancel.self) { arguments, call throws(BusError) in
            self.evaluations.cancel(from: call.sender, token: arguments.token)
            return NoValues()
        }
        interface.serve(GetEnvironment.self) { _, call throws(BusError) in
            try await self.environment(call)
        }
        interface.serve(RedeemTicket.self) { arguments, _ throws(BusError) in
            guard
                let claims = self.tickets.redeem(
                    arguments.ticket, challenge: arguments.challenge)
            else {
                // The same words for everything that can be wrong with it.
                throw BusError(ServiceError.ticketInvalid.name, "There is no such ticket.")
            }
            return RedeemTicket.Reply(claims: claims.values)
        }
        interface.serve(Watch.self) { _, call throws(BusError) in
            let caller = try await self.callers.known(call.sender)
            // A connection that has ended meanwhile would be watched for ever.
            guard self.callers.isPresent(caller) else { throw EvaluationError.appCancel.busError }
            self.audience.watch(call.sender, as: caller.account)
            return NoValues()
        }
        interface.serve(Unwatch.self) { _, call throws(BusError) in
            self.audience.unwatch(call.sender)
            return NoValues()
        }
        interface.sends(ProgressSignal.self)
        interface.sends(RetrySignal.self)
        interface.sends(LockoutSignal.self)
        interface.sends(EnvironmentChangedSignal.self)
        interface.has(
            BusProperty("Version", String.signature, .constant) { .string(self.version) })
        return interface
    }

    private func canEvaluatePolicy(
        _ arguments: CanEvaluatePolicy.Arguments, _ call: BusCall
    ) async throws(BusError) -> CanEvaluatePolicy.Reply {
        let policy = try Policy(wire: arguments.policy)
        do throws(EvaluationError) {
            let caller = try await callers.caller(evaluating: call.sender)
            _ = try await gate.admit(caller, to: .evaluate, interactive: false)
            try await feasibility.canEvaluate(
                Requirement(policy), of: caller.account, askedBy: caller)
            return CanEvaluatePolicy.Reply(canEvaluate: true, code: 0, message: "")
        } catch {
            return CanEvaluatePolicy.Reply(
                canEvaluate: false, code: error.laErrorCode, message: error.message)
        }
    }

    private func evaluatePolicy(
        _ arguments: EvaluatePolicy.Arguments, _ call: BusCall
    ) async throws(BusError) -> EvaluatePolicy.Reply {
        let request = try EvaluationRequest(arguments, defaultTimeout: defaultTimeout)
        do throws(EvaluationError) {
            let success = try await evaluations.run(
                request, from: call.sender, interactive: call.allowsInteraction)
            return EvaluatePolicy.Reply(result: success.result(of: request))
        } catch {
            throw error.busError
        }
    }

    private func environment(_ call: BusCall) async throws(BusError) -> GetEnvironment.Reply {
        let caller = try await callers.known(call.sender)
        let program = callers.program(of: caller)
        let facts = await biometry.facts(of: caller.account)
        var values: [EnvironmentKey: BusValue] = [
            .biometryType: .uint32(facts.readers.isEmpty ? 0 : 1),
            .biometryUsable: .bool(facts.isUsable),
            .biometryEnrolled: .bool(!facts.usableReaders.isEmpty),
            .biometryLockedOut: .bool(facts.lockout.isLocked),
            .attemptsLeft: .uint32(facts.lockout.attemptsLeft),
            .lockoutSecondsLeft: .uint32(facts.lockout.secondsLeft),
            .readers: .objectPaths(facts.readers.map { Service.readerPath($0.id.number) }),
            .sensorInaccessible: .bool(facts.isSensorInaccessible),
            .passwordSet: .bool(await passwords.standing(of: caller.account).isSet),
            .agentPresent: .bool(await agents.agent(for: caller) != nil),
        ]
        let state = await biometry.states.state(of: caller.account, for: await program.value)
        if let state { values[.domainState] = .bytes(state) }
        return GetEnvironment.Reply(
            environment: Dictionary(
                uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) }))
    }
}

extension BiometryFacts {
    /// Whether a finger could be asked for now.
    var isUsable: Bool {
        if case .success = biometry() { true } else { false }
    }
}

extension EvaluationSuccess {
    /// The result as it crosses the bus: never which finger, never a template.
    func result(of request: EvaluationRequest) -> [String: BusValue] {
        var values: [EvaluationResultKey: BusValue] = [
            .method: .string(method.rawValue),
            .policy: .uint32(request.policy.rawValue),
            .token: .string(request.token),
            .authenticatedAt: .uint64(authenticatedAt.microseconds),
        ]
        if let domainState { values[.domainState] = .bytes(domainState) }
        if let ticket { values[.ticket] = .bytes(ticket) }
        return Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
    }
}

extension TicketClaims {
    /// The claims as they cross the bus.
    fileprivate var values: [String: BusValue] {
        let values: [TicketClaim: BusValue] = [
            .uid: .uint32(account.id.rawValue),
            .user: .string(account.name.rawValue),
            .policy: .uint32(policy.rawValue),
            .method: .string(method.rawValue),
            .authenticatedAt: .uint64(authenticatedAt.microseconds),
            .caller: .string(caller),
            .callerProgram: .string(program?.name ?? ""),
            .callerEvidence: .string(program?.evidence.rawValue ?? ""),
        ]
        return Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
    }
}

extension CallerRegistry {
    /// Who asks for an evaluation.
    func caller(evaluating name: UniqueName) async throws(EvaluationError) -> Caller {
        do throws(CallerFailure) {
            return try await caller(name)
        } catch {
            switch error {
            case .gone: throw .appCancel
            case .noAccount: throw .biometryNotAvailable
            }
        }
    }

    /// Who asks for anything else.
    func known(_ name: UniqueName) async throws(BusError) -> Caller {
        do throws(EvaluationError) {
            return try await caller(evaluating: name)
        } catch {
            throw error.busError
        }
    }
}
