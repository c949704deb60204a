// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// Whether somebody can be authenticated, and with what: the one rule behind `CanEvaluatePolicy`
/// and `EvaluatePolicy`, so that the two agree.
@BusQueue final class Feasibility {
    /// What an evaluation can use.
    struct Means {
        var readers: [ReaderDescription]
        var agent: PromptAgent?
        var password: PasswordOffer
    }

    private let biometry: BiometryState
    private let agents: AgentRegistry
    private let passwords: any PasswordVerifying
    private let requiresAgent: Bool

    init(
        biometry: BiometryState, agents: AgentRegistry, passwords: any PasswordVerifying,
        requiresAgent: Bool
    ) {
        self.biometry = biometry
        self.agents = agents
        self.passwords = passwords
        self.requiresAgent = requiresAgent
    }

    /// What could be used now.
    /// - Throws: why nothing can.
    func means(
        for requirement: Requirement, of account: Account, askedBy caller: Caller
    ) async throws(EvaluationError) -> Means {
        let standing = await passwords.standing(of: account)
        guard !standing.hasAccountExpired else { throw .accountUnavailable }
        let agent = await agents.agent(for: caller)
        // Where the administrator wants it, a finger is asked for only in sight; and what an
        // application shows itself nobody can vouch for.
        guard !requiresAgent || requirement == .password || agent?.scope == .session else {
            throw .notInteractive
        }
        let password = offer(standing, agent)
        let facts = await biometry.facts(of: account)
        let readers = try facts.readers(for: requirement, password: password).get()
        return Means(readers: readers, agent: agent, password: password)
    }

    private func offer(_ standing: PasswordStanding, _ agent: PromptAgent?) -> PasswordOffer {
        guard standing.isSet else { return .refused(.passcodeNotSet) }
        return agent == nil ? .refused(.notInteractive) : .taken
    }

    /// Passes when the requirement could be met, now or as soon as a reader is back that the last
    /// sleep took.
    func canEvaluate(
        _ requirement: Requirement, of account: Account, askedBy caller: Caller
    ) async throws(EvaluationError) {
        do throws(EvaluationError) {
            _ = try await means(for: requirement, of: account, askedBy: caller)
        } catch {
            guard requirement != .password, await biometry.isComingBack(for: account) else {
                throw error
            }
        }
    }

    /// Passes when the requirement can be met; waits for a reader that the last sleep took.
    func beginEvaluating(
        _ requirement: Requirement, of account: Account, askedBy caller: Caller
    ) async throws(EvaluationError) {
        if requirement != .password { await biometry.waitForReunion(of: account) }
        _ = try await means(for: requirement, of: account, askedBy: caller)
    }
}
