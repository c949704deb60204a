// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// A program that shows prompts: an object of one connection.
struct PromptAgent: Hashable, Sendable {
    let connection: UniqueName
    let path: ObjectPath
    let scope: AgentScope
}

/// Who shows prompts, and which are open.
///
/// A session has one agent at most: the first that came stays until it goes, so that none can push
/// itself in front of another. Where it has one, that one shows every prompt of the session; an
/// application's own agent could show nothing, and a finger would be asked for in silence.
@BusQueue final class AgentRegistry {
    /// A user's session. Agents are found by both, so nobody's prompt is shown by another user's.
    private struct Seat: Hashable {
        let user: UserID
        let session: SessionID
    }

    /// Called when agents have come or gone.
    var onChange: (() -> Void)?

    private let connection: BusConnection
    private let gate: Gate
    private var sessions: [Seat: PromptAgent] = [:]
    private var own: [UniqueName: PromptAgent] = [:]
    private var prompts: [String: Prompt] = [:]

    init(on connection: BusConnection, gate: Gate) {
        self.connection = connection
        self.gate = gate
    }

    /// Whether no session relies on this instance to know its agent.
    var isEmpty: Bool { sessions.isEmpty }

    /// The agent that shows the caller's prompts.
    func agent(for caller: Caller) async -> PromptAgent? {
        // Mostly there is none at all.
        guard !sessions.isEmpty || !own.isEmpty else { return nil }
        let seating = await gate.seating(of: caller)
        let shared = seating.session.flatMap {
            sessions[Seat(user: caller.account.id, session: $0)]
        }
        return shared ?? UniqueName(caller.connection).flatMap { own[$0] }
    }

    // MARK: Coming and going

    func register(_ path: ObjectPath, _ scope: AgentScope, for caller: Caller)
        async throws(BusError)
    {
        let seating: Seating
        do throws(EvaluationError) {
            try await gate.requirePresence(of: caller)
            seating = await gate.seating(of: caller)
            // Whoever has left by now would stay for ever.
            guard gate.isStillThere(caller) else { throw .appCancel }
        } catch {
            throw error.busError
        }
        guard let name = UniqueName(caller.connection), let session = seating.session else {
            throw EvaluationError.notInteractive.busError
        }
        let agent = PromptAgent(connection: name, path: path, scope: scope)
        let seat = Seat(user: caller.account.id, session: session)
        let other = scope == .session ? sessions[seat] : own[name]
        guard other == nil || other == agent else {
            throw BusError(ServiceError.agentExists.name, "There is an agent already.")
        }
        switch scope {
        case .session: sessions[seat] = agent
        case .own: own[name] = agent
        }
        if other == nil { onChange?() }
    }

    func unregister(_ path: ObjectPath, of name: UniqueName) throws(BusError) {
        guard remove(where: { $0.connection == name && $0.path == path }) else {
            throw BusError(.invalidArgs, "there is no agent of yours at \(path.rawValue)")
        }
    }

    /// The connection has ended.
    func forget(_ name: UniqueName) { remove { $0.connection == name } }

    @discardableResult
    private func remove(where isMeant: (PromptAgent) -> Bool) -> Bool {
        let count = sessions.count + own.count
        sessions = sessions.filter { !isMeant($0.value) }
        own = own.filter { !isMeant($0.value) }
        guard sessions.count + own.count < count else { return false }
        for prompt in prompts.values where isMeant(prompt.agent) { prompt.lose() }
        onChange?()
        return true
    }

    // MARK: Prompts

    /// A new prompt, to be begun.
    func makePrompt(by agent: PromptAgent, for owner: any PromptOwner) -> Prompt {
        let prompt = Prompt(by: agent, for: owner, on: connection) { [weak self] id in
            self?.prompts[id] = nil
        }
        prompts[prompt.id] = prompt
        return prompt
    }

    /// The prompt of this id, for the agent that shows it; anybody else learns nothing of it.
    func prompt(_ id: String, shownBy name: UniqueName) throws(BusError) -> Prompt {
        guard let prompt = prompts[id], prompt.agent.connection == name else {
            throw BusError(ServiceError.noSuchPrompt.name, "There is no such prompt.")
        }
        return prompt
    }
}
