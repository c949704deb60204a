// SPDX-License-Identifier: Apache-2.0

internal import SystemSupport

/// What a context is made of. Its evaluations hold this and not the context, so that the context
/// can be let go while they run.
final class ContextState: Sendable {
    private struct Values {
        var settings = EvaluationSettings()
        var reason = ""
        var biometryType = LABiometryType.none
        var policyDomainState: Data?
        var credentials: [LACredentialType: Data] = [:]
        /// What was authenticated in this context satisfies these without asking again.
        var satisfied: [LAPolicy: Success] = [:]
        var running: [String: Evaluation] = [:]
        var isInvalidated = false
    }

    let link: ServiceLink
    /// Where the application is called, for one thing after the other.
    private let queue = DispatchQueue(label: "org.example.LocalAuth.reply")
    private let values = Locked(Values())

    init(link: ServiceLink) { self.link = link }

    // MARK: Properties

    var settings: EvaluationSettings { values.withLock(\.settings) }

    func change(_ body: (inout EvaluationSettings) -> Void) {
        values.withLock { body(&$0.settings) }
    }

    var reason: String {
        get { values.withLock(\.reason) }
        set { values.withLock { $0.reason = newValue } }
    }

    var biometryType: LABiometryType { values.withLock(\.biometryType) }

    var policyDomainState: Data? { values.withLock(\.policyDomainState) }

    func setCredential(_ credential: Data?, _ type: LACredentialType) -> Bool {
        values.withLock { values in
            guard !values.isInvalidated else { return false }
            values.credentials[type] = credential
            return true
        }
    }

    func isCredentialSet(_ type: LACredentialType) -> Bool {
        values.withLock { $0.credentials[type] != nil }
    }

    // MARK: Questions

    /// Asks the service; `nil` when the policy could be evaluated.
    func obstacle(to policy: LAPolicy) -> LAError? {
        guard !values.withLock(\.isInvalidated) else { return .invalid }
        let asked = policy.isServed ? policy : .deviceOwnerAuthenticationWithBiometrics
        let availability = waitForService { [link] in await link.availability(of: asked) }
        guard let availability else { return .unanswered }
        values.withLock { values in
            values.biometryType = availability.environment.biometryType
            guard policy.isServed, case .success = availability.answer else { return }
            values.policyDomainState = availability.environment.domainState
        }
        guard policy.isServed else { return .noCompanion }
        if case .failure(let error) = availability.answer { return error }
        return nil
    }

    // MARK: Evaluations

    /// Makes an evaluation, which can be cancelled from now on.
    func makeEvaluation(
        hear: (@Sendable (LAEvaluationEvent) -> Void)? = nil
    ) -> Evaluation {
        Evaluation(on: queue, hear: hear) { evaluation, outcome in
            self.settle(evaluation, outcome)
        }
    }

    /// Begins an evaluation: by the service or, where that is not needed or not possible, by
    /// ending it at once.
    ///
    /// - Parameters:
    ///   - evaluation: one that was made for it.
    ///   - policy: what suffices.
    ///   - reason: what the user is told.
    ///   - options: what else is wanted.
    ///   - reuses: whether what was authenticated in this context before may be the answer.
    func begin(
        _ evaluation: Evaluation, _ policy: LAPolicy, reason: String,
        options: LAEvaluationOptions = LAEvaluationOptions(), reuses: Bool
    ) {
        let answer: Evaluation.Outcome? = values.withLock { values in
            guard !values.isInvalidated else { return .failure(.invalid) }
            guard policy.isServed else { return .failure(.noCompanion) }
            guard !reason.allSatisfy(\.isWhitespace) else { return .failure(.noReason) }
            if reuses, let success = values.satisfied[policy] { return .success(success) }
            // What has ended before it began is not remembered: nobody would take it out again.
            if !evaluation.hasEnded { values.running[evaluation.token] = evaluation }
            return nil
        }
        if let answer { return evaluation.end(answer) }
        // The service keeps the time; this is for one that hangs.
        evaluation.endByItself(after: TimeInterval(options.wholeSeconds) + 30)
        link.run(
            evaluation,
            EvaluationRequest(
                policy: policy, reason: reason, settings: settings, options: options))
    }

    private func settle(_ evaluation: Evaluation, _ outcome: Evaluation.Outcome) {
        values.withLock { values in
            values.running[evaluation.token] = nil
            // A context that was let go or invalidated meanwhile has nothing to remember.
            guard !values.isInvalidated, case .success(let success) = outcome else { return }
            for policy in success.covers { values.satisfied[policy] = success }
            if success.method == .biometrics { values.policyDomainState = success.domainState }
        }
    }

    /// Ends everything that runs, and lets nothing begin any more.
    ///
    /// - Parameter why: a sentence for developers.
    func invalidate(_ why: String) {
        let running = values.withLock { values in
            values.isInvalidated = true
            values.credentials = [:]
            values.satisfied = [:]
            defer { values.running = [:] }
            return Array(values.running.values)
        }
        for evaluation in running { cancel(evaluation, why) }
    }

    /// Ends one evaluation with `appCancel`, at once, whatever the service does.
    func cancel(_ evaluation: Evaluation, _ why: String) {
        evaluation.end(.failure(LAError(.appCancel, detail: why)))
        link.cancel(evaluation)
    }
}
