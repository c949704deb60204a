// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel
internal import SystemSupport

/// Whoever has a prompt shown, and is told what the person does with it.
@BusQueue protocol PromptOwner: AnyObject {
    /// The cancel button.
    func cancelPrompt()
    /// The fallback button.
    /// - Throws: when there is none now.
    func chooseFallback() throws(BusError)
    /// Something was entered.
    /// - Returns: what it came to.
    /// - Throws: when nothing is taken now, or when the prompt has ended meanwhile.
    func submit(_ entry: any PasswordEntry) async throws(BusError) -> SubmitPassword.Reply
    /// The agent has gone.
    func losePrompt()
}

/// One prompt that an agent shows: begun once, changed while it lasts, ended once.
@BusQueue final class Prompt {
    /// Nobody can guess it.
    let id: String
    let agent: PromptAgent
    /// Weak: the owner keeps the prompt.
    private(set) weak var owner: (any PromptOwner)?
    private let connection: BusConnection
    private let onEnd: (String) -> Void
    private var hasBegun = false
    private var hasEnded = false

    init(
        by agent: PromptAgent, for owner: any PromptOwner, on connection: BusConnection,
        onEnd: @escaping (String) -> Void
    ) {
        id = hexadecimal(randomBytes(16))
        self.agent = agent
        self.owner = owner
        self.connection = connection
        self.onEnd = onEnd
    }

    /// Has the agent show it; false when it cannot. A mute agent is waited for as long as that, which
    /// is to be longer than the prompt can last.
    func begin(_ details: [PromptKey: BusValue], deadline: Duration) async -> Bool {
        hasBegun = true
        do throws(BusError) {
            _ = try await connection.call(
                BeginPrompt.self, BeginPrompt.Arguments(id: id, details: details.wire),
                of: .peer(agent.connection), at: agent.path, deadline: deadline)
            return true
        } catch {
            return false
        }
    }

    func update(_ changes: [PromptKey: BusValue]) {
        guard hasBegun, !hasEnded else { return }
        connection.tell(
            UpdatePrompt.self, UpdatePrompt.Arguments(id: id, changes: changes.wire),
            to: .peer(agent.connection), at: agent.path)
    }

    /// Takes it from the screen. `outcome` is `success`, or the last part of the error's name.
    func end(_ outcome: String) {
        guard !hasEnded else { return }
        hasEnded = true
        onEnd(id)
        guard hasBegun else { return }
        connection.tell(
            EndPrompt.self, EndPrompt.Arguments(id: id, outcome: outcome),
            to: .peer(agent.connection), at: agent.path)
    }

    /// The agent has gone.
    func lose() { owner?.losePrompt() }
}

extension [PromptKey: BusValue] {
    fileprivate var wire: [String: BusValue] {
        Dictionary<String, BusValue>(uniqueKeysWithValues: map { ($0.key.rawValue, $0.value) })
    }
}
