// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import SystemSupport

extension Conversation {
    func can(_ policy: PolicyChoice) async throws(BusError) -> ExitCode {
        // Where `evaluate` would show the prompt, the answer counts it.
        try await showOwnPrompts()
        let reply = try await call(
            CanEvaluatePolicy.self, CanEvaluatePolicy.Arguments(policy: policy.rawValue),
            deadline: Self.deadline)
        output.result(reply.json(policy), [reply.line])
        return reply.canEvaluate ? .success : .no
    }

    /// Asks for a finger or the password. Whatever happens meanwhile is told, but only the reply
    /// counts.
    func evaluate(_ choice: EvaluationChoice) async throws(BusError) -> ExitCode {
        let result = try await evaluation(choice)
        output.result(
            .object(
                [JSON.Member(name: "type", value: "evaluated")]
                    + result.sorted { $0.key < $1.key }.map {
                        JSON.Member(name: $0.key, value: JSON($0.value))
                    }),
            Self.lines(of: result))
        return .success
    }

    private static func lines(of result: [String: BusValue]) -> [String] {
        let method = result[EvaluationResultKey.method.rawValue]?.plainText ?? "unknown"
        let ticket = result[EvaluationResultKey.ticket.rawValue].map { "ticket: \($0.plainText)" }
        return ["authenticated: \(method)"] + [ticket].compactMap(\.self)
    }

    /// Ends a lockout by the password, which a whole evaluation takes.
    func unlock(_ timeout: UInt32?) async throws(BusError) -> ExitCode {
        let environment = try await call(
            GetEnvironment.self, NoValues(), deadline: Self.deadline
        ).environment
        guard environment[EnvironmentKey.biometryLockedOut.rawValue] != .bool(false) else {
            output.result(
                .members(["type": "unlock", "was-locked-out": .bool(false)]),
                ["not locked out"])
            return .success
        }
        var choice = EvaluationChoice()
        choice.policy = .any
        choice.reason = "end the lockout of fingerprints"
        choice.timeout = timeout ?? 120
        _ = try await evaluation(choice)
        output.result(
            .members(["type": "unlock", "was-locked-out": .bool(true)]), ["lockout ended"])
        return .success
    }

    private func evaluation(
        _ choice: EvaluationChoice
    ) async throws(BusError) -> [String: BusValue] {
        let token = choice.token ?? Self.makeToken()
        followEvaluation(token)
        await service.findOwner()
        var isInterrupted = false
        let interrupt = { [self] (source: Interruption.Source) in
            guard !isInterrupted else { fail(.interrupted) }
            isInterrupted = true
            cancel(token)
        }
        interruption.action = interrupt
        try await showOwnPrompts()
        agent?.onInputEnd = { interrupt(.key) }
        guard !isInterrupted else { throw .interrupted }
        let reply = try await call(
            EvaluatePolicy.self,
            EvaluatePolicy.Arguments(
                policy: choice.policy.rawValue, localizedReason: choice.reason,
                options: choice.options(token: token)),
            deadline: nil, mayAsk: true)
        // A finger that came too late helps nobody.
        guard !isInterrupted else { throw .interrupted }
        return reply.result
    }

    /// Ends our evaluation, and us within two seconds whatever the service does. The answer to
    /// the evaluation itself ends us earlier.
    private func cancel(_ token: String) {
        _ = BusQueue.executor.after(.seconds(2)) { [self] in
            BusQueue.assumeIsolated { () -> Void in fail(.interrupted) }
        }
        // Whoever is asked takes the question back; if nobody is, whoever asks does.
        guard agent?.cancel() != true else { return }
        BusQueue.task {
            _ = try? await call(
                Cancel.self, Cancel.Arguments(token: token), deadline: .seconds(2))
        }
    }

    private func followEvaluation(_ token: String) {
        let output = output
        // What a prompt says is not said twice.
        service.onSignal(ProgressSignal.self) { [unowned self] progress, _ in
            guard progress.token == token else { return }
            output.event(progress.json, nil)
            if let hint = progress.hint, agent?.isPrompting != true { output.hint(hint) }
        }
        service.onSignal(RetrySignal.self) { [unowned self] retry, _ in
            guard retry.token == token else { return }
            output.event(retry.json, agent?.isPrompting == true ? nil : retry.hint)
        }
        service.onSignal(LockoutSignal.self) { lockout, _ in
            output.event(lockout.json, nil)
        }
    }
}

extension EvaluationChoice {
    fileprivate func options(token: String) -> [String: BusValue] {
        var options: [EvaluationOption: BusValue] = [.token: .string(token)]
        options[.timeout] = timeout.map { .uint32($0) }
        options[.user] = user.map { .string($0) }
        options[.fallbackTitle] = fallbackTitle.map { .string($0) }
        options[.cancelTitle] = cancelTitle.map { .string($0) }
        if isInteractionForbidden { options[.interactionNotAllowed] = .bool(true) }
        options[.reuseDuration] = reuse.map { .uint32($0) }
        options[.challenge] = challenge.map { .bytes($0) }
        options[.requiredDomainState] = requiredState.map { .bytes($0) }
        return Dictionary(uniqueKeysWithValues: options.map { ($0.key.rawValue, $0.value) })
    }
}

extension CanEvaluatePolicy.Reply {
    func json(_ policy: PolicyChoice) -> JSON {
        .members([
            "type": "can", "policy": .unsigned(UInt64(policy.rawValue)),
            "can-evaluate": .bool(canEvaluate), "code": .integer(Int64(code)),
            "message": .string(message),
        ])
    }

    var line: String { canEvaluate ? "yes" : "no: \(message) (\(code))" }
}
