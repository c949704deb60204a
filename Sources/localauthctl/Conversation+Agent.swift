// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

extension Conversation {
    /// Shows the prompts of this session on the terminal until Ctrl-C, also those of a service
    /// that was started anew.
    func serveSession() async throws(BusError) -> ExitCode {
        guard let agent = makeAgent() else {
            throw BusError(
                ServiceError.notInteractive.name, "Prompts can only be shown on a terminal.")
        }
        interruption.action = { [self] source in
            // Ctrl-C at a prompt is for the prompt.
            guard source == .key, !isCanceling, agent.cancel() else { leave(.success) }
            isCanceling = true
        }
        agent.onInputEnd = { [interruption] in interruption.action(.key) }
        agent.onEnd = { [self] outcome in
            isCanceling = false
            output.event(.null, Self.line(of: outcome))
        }
        await service.findOwner()
        service.onOwnerChange = { [self] owner in
            // Whatever was shown was another's, who has gone.
            agent.drop()
            isCanceling = false
            guard owner != nil else { return output.event(.null, "The service has gone.") }
            registerAgain(agent)
        }
        service.onSignal(EnvironmentChangedSignal.self) { [self] _, _ in
            guard isWaitingForSession else { return }
            isWaitingForSession = false
            registerAgain(agent)
        }
        try await startService()
        try await register(agent)
        await waitForever()
    }

    /// Registers with another service than before. Where the session is locked just then, once
    /// something has changed.
    private func registerAgain(_ agent: PromptAgent) {
        BusQueue.task { [self] in
            do throws(BusError) {
                try await register(agent)
            } catch {
                guard ServiceError(error.name) == .notInteractive else { fail(error) }
                isWaitingForSession = true
                output.hint("Waiting until the session is unlocked.")
            }
        }
    }

    /// Starts the service, if it can be. If it cannot, it is waited for.
    private func startService() async throws(BusError) {
        guard service.owner == nil else { return }
        do throws(BusError) {
            let property = GetProperty.Arguments(
                interface: Service.interface.rawValue, property: "Version")
            _ = try await call(GetProperty.self, property, deadline: Self.deadline)
        } catch {
            guard error.isAbsence else { throw error }
        }
    }

    /// Registers with the service that there is, also when that changes meanwhile.
    private func register(_ agent: PromptAgent) async throws(BusError) {
        guard !isRegistering else { return }
        isRegistering = true
        defer { isRegistering = false }
        while let owner = service.owner {
            do throws(BusError) {
                try await agent.register(.session, with: .peer(owner))
                guard service.owner == owner else { continue }
                output.event(.null, "Serving the prompts of this session; Ctrl-C ends it.")
                return
            } catch {
                guard service.owner != owner else { throw error }
            }
        }
        output.event(.null, "Waiting for the service.")
    }

    private static func line(of outcome: String) -> String {
        switch outcome {
        case "success": "Authenticated."
        case ServiceError.userCancel.rawValue: "Canceled."
        case ServiceError.timeout.rawValue: "Nobody answered in time."
        default: "Ended: \(outcome)."
        }
    }
}
