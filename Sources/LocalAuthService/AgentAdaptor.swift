// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// Serves `org.example.LocalAuth.AgentManager`. Decodes, asks, hands over, encodes; decides nothing.
@BusQueue final class AgentAdaptor {
    private let callers: CallerRegistry
    private let agents: AgentRegistry

    init(callers: CallerRegistry, agents: AgentRegistry) {
        self.callers = callers
        self.agents = agents
    }

    var interface: BusInterface {
        var interface = BusInterface(Service.agentManagerInterface)
        interface.serve(RegisterAgent.self) { arguments, call throws(BusError) in
            let scope = try AgentOptions(arguments.options).scope
            let caller = try await self.callers.known(call.sender)
            try await self.agents.register(arguments.path, scope, for: caller)
            return NoValues()
        }
        interface.serve(UnregisterAgent.self) { arguments, call throws(BusError) in
            try self.agents.unregister(arguments.path, of: call.sender)
            return NoValues()
        }
        interface.serve(CancelPrompt.self) { arguments, call throws(BusError) in
            try self.owner(of: arguments.id, call).cancelPrompt()
            return NoValues()
        }
        interface.serve(ChooseFallback.self) { arguments, call throws(BusError) in
            try self.owner(of: arguments.id, call).chooseFallback()
            return NoValues()
        }
        interface.serve(SubmitPassword.self) { arguments, call throws(BusError) in
            let owner = try self.owner(of: arguments.id, call)
            return try await owner.submit(PipedEntry(arguments.secret))
        }
        return interface
    }

    private func owner(
        of id: String, _ call: BusCall
    ) throws(BusError) -> any PromptOwner {
        guard let owner = try agents.prompt(id, shownBy: call.sender).owner else {
            throw BusError(ServiceError.noSuchPrompt.name, "There is no such prompt.")
        }
        return owner
    }
}

/// The options of `RegisterAgent`, checked.
private struct AgentOptions {
    var scope = AgentScope.session

    init(_ options: [String: BusValue]) throws(BusError) {
        for (key, value) in options.sorted(by: { $0.key < $1.key }) {
            switch (key, value) {
            case ("scope", .string(let name)):
                guard let scope = AgentScope(rawValue: name) else {
                    throw BusError(.invalidArgs, "option scope: there is no scope \(quoted(name))")
                }
                self.scope = scope
            case ("scope", _):
                throw BusError(
                    .invalidArgs, "option scope takes s, not \(value.typeSignature)")
            default: throw BusError(.invalidArgs, "unknown option \(quoted(key))")
            }
        }
    }
}
