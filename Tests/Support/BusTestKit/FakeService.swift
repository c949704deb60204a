// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import Foundation
package import LocalAuthContract

/// A service of ours that says to agents and callers what a test wants, and nothing by itself.
@BusQueue package final class FakeService {
    /// An agent that has registered.
    package struct Agent: Hashable, Sendable {
        package let connection: UniqueName
        package let path: ObjectPath
        package let scope: String
    }

    /// A call that has come and waits for its answer.
    package final class OpenCall<Arguments: Sendable, Answer: Sendable>: Sendable {
        package let arguments: Arguments
        package let sender: UniqueName
        private let resume: @Sendable (Result<Answer, BusError>) -> Void

        fileprivate init(
            _ arguments: Arguments, _ sender: UniqueName,
            _ resume: @escaping @Sendable (Result<Answer, BusError>) -> Void
        ) {
            (self.arguments, self.sender, self.resume) = (arguments, sender, resume)
        }

        package func answer(_ answer: Answer) { resume(.success(answer)) }
        package func fail(_ error: BusError) { resume(.failure(error)) }
        package func fail(_ error: ServiceError) {
            resume(.failure(BusError(error.name, error.rawValue)))
        }
    }

    /// What was submitted: the prompt's id and all that came through the pipe.
    package struct Secret: Hashable, Sendable {
        package let id: String
        package let bytes: [UInt8]
        /// Whether the pipe had ended behind them.
        package let isComplete: Bool
    }

    package typealias Evaluation = OpenCall<EvaluatePolicy.Arguments, EvaluatePolicy.Reply>
    package typealias Submission = OpenCall<Secret, SubmitPassword.Reply>
    package typealias Enrolment = OpenCall<EnrollFinger.Arguments, NoValues>
    package typealias Deletion = OpenCall<DeleteFingers.Arguments, NoValues>

    package let agents = Happenings<Agent>()
    package let evaluations = Happenings<Evaluation>()
    package let submissions = Happenings<Submission>()
    package let enrolments = Happenings<Enrolment>()
    package let deletions = Happenings<Deletion>()
    /// `cancel`, `fallback` and `Cancel`, each with its id or token.
    package let choices = Happenings<String>()
    /// What registering is answered with.
    package var refusal: BusError?
    /// What `CancelPrompt` and `ChooseFallback` are answered with.
    package var choiceRefusal: BusError?
    package var environment: [String: BusValue] = [:]
    /// What `CanEvaluatePolicy` is answered with; `nil`: whether the caller has an agent.
    package var availability: CanEvaluatePolicy.Reply?
    /// What `RedeemTicket` is answered with.
    package var claims: [String: BusValue] = [:]
    private let connection: BusConnection

    /// Takes the service's name on a bus. Without `hasAgents` it is one from before there were
    /// prompts.
    package init(
        _ bus: PrivateBus, hasAgents: Bool = true, refusing refusal: BusError? = nil
    ) async throws {
        self.refusal = refusal
        connection = try bus.connect()
        var interfaces = [main, management]
        if hasAgents { interfaces.append(agentManager) }
        connection.export(BusObject(Service.path, interfaces))
        guard try await connection.requestName(Service.name) else {
            throw BusError(.failed, "somebody else is the service")
        }
    }

    /// Leaves the bus, as a process that dies does.
    package func close() { connection.close() }

    // MARK: To an agent

    package func begin(
        _ id: String, _ details: [String: BusValue], on agent: Agent
    ) async throws {
        _ = try await call(
            BeginPrompt.self, BeginPrompt.Arguments(id: id, details: details), agent)
    }

    package func update(
        _ id: String, _ changes: [String: BusValue], on agent: Agent
    ) async throws {
        _ = try await call(
            UpdatePrompt.self, UpdatePrompt.Arguments(id: id, changes: changes), agent)
    }

    package func end(_ id: String, _ outcome: String, on agent: Agent) async throws {
        _ = try await call(EndPrompt.self, EndPrompt.Arguments(id: id, outcome: outcome), agent)
    }

    private func call<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments, _ agent: Agent
    ) async throws(BusError) -> M.Reply {
        try await connection.call(
            method, arguments, of: .peer(agent.connection), at: agent.path,
            deadline: .seconds(30))
    }

    /// Sends a signal to one connection, or to everybody.
    package func send<S: BusSignal>(
        _ signal: S.Type, _ arguments: S.Arguments, to receiver: UniqueName? = nil
    ) {
        connection.send(signal, arguments, from: Service.path, to: receiver)
    }

    // MARK: What is served

    /// Notes a call and waits for the test to answer it.
    private func wait<Arguments: Sendable, Answer: Sendable>(
        _ arguments: Arguments, _ sender: UniqueName,
        in calls: Happenings<OpenCall<Arguments, Answer>>
    ) async throws(BusError) -> Answer {
        try await withCheckedContinuation { continuation in
            calls.note(OpenCall(arguments, sender) { continuation.resume(returning: $0) })
        }.get()
    }

    private var main: BusInterface {
        var interface = BusInterface(Service.interface)
        interface.serve(EvaluatePolicy.self) { [unowned self] arguments, call throws(BusError) in
            try await wait(arguments, call.sender, in: evaluations)
        }
        interface.serve(CanEvaluatePolicy.self) { [unowned self] _, call throws(BusError) in
            if let availability { return availability }
            let hasAgent = agents.all.contains { $0.connection == call.sender }
            return CanEvaluatePolicy.Reply(
                canEvaluate: hasAgent, code: hasAgent ? 0 : -1004, message: "no agent")
        }
        interface.serve(Cancel.self) { [unowned self] arguments, _ throws(BusError) in
            choices.note("Cancel \(arguments.token)")
            return NoValues()
        }
        interface.serve(Watch.self) { _, _ throws(BusError) in NoValues() }
        interface.serve(GetEnvironment.self) { [unowned self] _, _ throws(BusError) in
            GetEnvironment.Reply(environment: environment)
        }
        interface.serve(RedeemTicket.self) { [unowned self] _, _ throws(BusError) in
            RedeemTicket.Reply(claims: claims)
        }
        return interface
    }

    private var management: BusInterface {
        var interface = BusInterface(Service.managementInterface)
        interface.serve(EnrollFinger.self) { [unowned self] arguments, call throws(BusError) in
            try await wait(arguments, call.sender, in: enrolments)
        }
        interface.serve(DeleteFingers.self) { [unowned self] arguments, call throws(BusError) in
            try await wait(arguments, call.sender, in: deletions)
        }
        return interface
    }

    private var agentManager: BusInterface {
        var interface = BusInterface(Service.agentManagerInterface)
        interface.serve(RegisterAgent.self) { [unowned self] arguments, call throws(BusError) in
            if let refusal { throw refusal }
            let scope = arguments.options["scope"]
            guard case .string(let scope)? = scope else {
                throw BusError(.invalidArgs, "no scope")
            }
            agents.note(Agent(connection: call.sender, path: arguments.path, scope: scope))
            return NoValues()
        }
        interface.serve(SubmitPassword.self) { [unowned self] arguments, call throws(BusError) in
            let (id, descriptor) = (arguments.id, arguments.secret)
            guard let secret = try? await blocking({ all(of: descriptor, as: id) }) else {
                throw BusError(.failed, "the pipe cannot be read")
            }
            return try await wait(secret, call.sender, in: submissions)
        }
        interface.serve(CancelPrompt.self) { [unowned self] arguments, _ throws(BusError) in
            choices.note("cancel \(arguments.id)")
            if let choiceRefusal { throw choiceRefusal }
            return NoValues()
        }
        interface.serve(ChooseFallback.self) { [unowned self] arguments, _ throws(BusError) in
            choices.note("fallback \(arguments.id)")
            if let choiceRefusal { throw choiceRefusal }
            return NoValues()
        }
        return interface
    }
}

/// Reads a pipe to its end, for at most five seconds after the last byte.
private func all(of pipe: SharedDescriptor, as id: String) -> FakeService.Secret {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 8_192)
    while true {
        var entry = pollfd(fd: pipe.rawValue, events: Int16(POLLIN), revents: 0)
        // SAFETY (both): one entry, which is ours; at most the buffer's size is written.
        guard unsafe poll(&entry, 1, 5_000) > 0 else {
            return FakeService.Secret(id: id, bytes: bytes, isComplete: false)
        }
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe read(pipe.rawValue, $0.baseAddress, $0.count)
        }
        guard count > 0 else {
            return FakeService.Secret(id: id, bytes: bytes, isComplete: count == 0)
        }
        bytes += buffer.prefix(count)
    }
}
