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
            if owner == nil {
                output.event(.null, "The service has gone.")
            } else {
                registerSoon(agent)
            }
        }
        try await register(agent)
        await waitForever()
    }

    private func registerSoon(_ agent: PromptAgent) {
        BusQueue.task { [self] in
            do throws(BusError) {
                try await register(agent)
            } catch {
                fail(error)
            }
        }
    }

    /// Registers, which starts the service. If there is none, it is waited for.
    private func register(_ agent: PromptAgent) async throws(BusError) {
        do throws(BusError) {
            try await agent.register(.session)
            output.event(.null, "Serving the prompts of this session; Ctrl-C ends it.")
        } catch {
            // An older service will not learn it by being waited for.
            let isOlder = error.name == .unknownMethod || error.name == .unknownInterface
            guard ExitCode(error) == .notReachable, !isOlder, error.name != .disconnected else {
                throw error
            }
            output.hint("Waiting for the service.")
        }
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
