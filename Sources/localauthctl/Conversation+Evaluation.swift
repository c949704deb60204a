// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import SystemSupport

extension Conversation {
    func can(_ policy: PolicyChoice) async throws(BusError) -> ExitCode {
        let reply = try await call(
            CanEvaluatePolicy.self, CanEvaluatePolicy.Arguments(policy: policy.rawValue),
            deadline: Self.deadline)
        output.result(reply.json(policy), [reply.line])
        return reply.canEvaluate ? .success : .no
    }

    /// Asks for a finger. Whatever happens meanwhile is told, but only the reply counts.
    func evaluate(_ choice: EvaluationChoice) async throws(BusError) -> ExitCode {
        let token = choice.token ?? Self.makeToken()
        followEvaluation(token)
        await service.findOwner()
        var isInterrupted = false
        interruption.action = { [self] in
            guard !isInterrupted else { fail(.interrupted) }
            isInterrupted = true
            cancel(token)
        }
        let reply = try await call(
            EvaluatePolicy.self,
            EvaluatePolicy.Arguments(
                policy: choice.policy.rawValue, localizedReason: choice.reason,
                options: choice.options(token: token)),
            deadline: nil, mayAsk: true)
        // A finger that came too late helps nobody.
        guard !isInterrupted else { throw .interrupted }
        let method = reply.result[EvaluationResultKey.method.rawValue]?.plainText ?? "unknown"
        output.result(
            .object(
                [JSON.Member(name: "type", value: "evaluated")]
                    + reply.result.sorted { $0.key < $1.key }.map {
                        JSON.Member(name: $0.key, value: JSON($0.value))
                    }),
            ["authenticated: \(method)"])
        return .success
    }

    /// Ends our evaluation, and us within two seconds whatever the service does. The answer to
    /// the evaluation itself ends us earlier.
    private func cancel(_ token: String) {
        _ = BusQueue.executor.after(.seconds(2)) { [self] in
            BusQueue.assumeIsolated { () -> Void in fail(.interrupted) }
        }
        BusQueue.task {
            _ = try? await call(
                Cancel.self, Cancel.Arguments(token: token), deadline: .seconds(2))
        }
    }

    private func followEvaluation(_ token: String) {
        let output = output
        service.onSignal(ProgressSignal.self) { progress, _ in
            guard progress.token == token else { return }
            output.event(progress.json, nil)
            if let hint = progress.hint { output.hint(hint) }
        }
        service.onSignal(RetrySignal.self) { retry, _ in
            guard retry.token == token else { return }
            output.event(retry.json, retry.hint)
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
