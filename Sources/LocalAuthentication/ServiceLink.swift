// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import LocalAuthContract
internal import SystemSupport

/// The way to the service: one connection to the bus for the whole process, made when it is first
/// needed, and anew when the bus was started anew.
///
/// It lives on the bus queue, a thread of this module's own, so that nothing of the application has
/// to run for it: no main loop, no main queue, and none of Swift's own threads.
@BusQueue package final class ServiceLink {
    /// The one of the process, on the system bus.
    nonisolated static let shared = ServiceLink()

    /// The longest that the service takes for an answer that asks nobody, with its start.
    static let deadline: Duration = .seconds(25)

    private let address: String?
    private var service: RemoteService?
    /// Ends when it is known whose signals count.
    private var ownerSearch: Task<Void, Never>?
    private var evaluations: [String: Evaluation] = [:]
    /// Called on the bus queue when something about the environment may have changed.
    private var onChange: (() -> Void)?
    /// Called on the bus queue when the connection has ended.
    private var onDisconnect: (() -> Void)?
    private var isListening = false

    /// - Parameter address: a D-Bus address; `nil` is the system bus.
    package nonisolated init(address: String? = nil) {
        self.address = address
        BusQueue.executor.start()
    }

    // MARK: Connection

    private func connect() throws(BusError) -> RemoteService {
        if let service { return service }
        let connection = try BusConnection(address: address)
        let service = RemoteService(Service.name, on: connection)
        connection.onDisconnect = { [weak self] in self?.forget() }
        listen(to: service)
        self.service = service
        ownerSearch = BusQueue.task { await service.findOwner() }
        return service
    }

    private func forget() {
        service?.connection.close()
        service = nil
        isListening = false
        onDisconnect?()
    }

    /// Leaves the bus.
    package func close() {
        onDisconnect = nil
        onChange = nil
        forget()
    }

    private func listen(to service: RemoteService) {
        service.onSignal(ProgressSignal.self) { [weak self] signal, _ in
            guard let event = LAEvaluationEvent(signal) else { return }
            self?.evaluations[signal.token]?.tell(event)
        }
        service.onSignal(RetrySignal.self) { [weak self] signal, _ in
            self?.evaluations[signal.token]?.tell(LAEvaluationEvent(signal))
        }
        service.onSignal(LockoutSignal.self) { [weak self] signal, _ in
            // It carries no token: it is about the user, and so about every evaluation.
            for evaluation in self?.evaluations.values.map(\.self) ?? [] {
                evaluation.tell(LAEvaluationEvent(signal))
            }
        }
    }

    // MARK: Calls

    /// Calls a method that changes nothing. Where the bus has just ended, the new one is asked.
    func ask<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments
    ) async throws(BusError) -> M.Reply {
        do throws(BusError) {
            return try await call(method, arguments)
        } catch {
            guard error.name == .disconnected else { throw error }
            return try await call(method, arguments)
        }
    }

    /// Calls a method that asks nobody.
    func call<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments
    ) async throws(BusError) -> M.Reply {
        try await connect().call(method, arguments, at: Service.path, deadline: Self.deadline)
    }

    /// Whether there is a connection to the bus, as far as is known.
    var isConnected: Bool { service != nil }

    /// What the service knows of the user; nothing where it cannot be asked.
    func environment() async -> EnvironmentSnapshot {
        do throws(BusError) {
            return EnvironmentSnapshot(try await ask(GetEnvironment.self, NoValues()).environment)
        } catch {
            return .nothing
        }
    }

    /// Whether the policy could be evaluated now, and what the service knows of the user.
    func availability(of policy: LAPolicy) async -> Availability {
        // Both are asked at once, and the service answers in order.
        let environment = BusQueue.task { await self.environment() }
        let answer: Result<Void, LAError>
        do throws(BusError) {
            let reply = try await ask(
                CanEvaluatePolicy.self, CanEvaluatePolicy.Arguments(policy: policy.wire))
            answer = reply.canEvaluate ? .success(()) : .failure(LAError(reply))
        } catch {
            answer = .failure(LAError(error))
        }
        return Availability(answer: answer, environment: await environment.value)
    }

    /// Asks something on the bus queue.
    nonisolated func inquire<T: Sendable>(
        _ question: @escaping @Sendable @BusQueue (ServiceLink) async -> T
    ) async -> T {
        await BusQueue.task { await question(self) }.value
    }

    // MARK: Evaluations

    /// Lets the service evaluate, and ends the evaluation with what it says.
    nonisolated func run(_ evaluation: Evaluation, _ request: EvaluationRequest) {
        BusQueue.task { await self.runHere(evaluation, request) }
    }

    private func runHere(_ evaluation: Evaluation, _ request: EvaluationRequest) async {
        evaluations[evaluation.token] = evaluation
        defer { evaluations[evaluation.token] = nil }
        do throws(BusError) {
            let service = try connect()
            await ownerSearch?.value
            // What was cancelled meanwhile is not begun. Whatever is cancelled from here on is
            // cancelled after this call on the same connection, so that the service hears of both.
            guard !evaluation.hasEnded else { return }
            // Without a deadline of D-Bus's: the service's own time limit holds, and the context
            // has one for a service that does not keep it.
            let reply = try await service.call(
                EvaluatePolicy.self, request.arguments(token: evaluation.token),
                at: Service.path, deadline: nil,
                interactive: !request.settings.interactionNotAllowed)
            evaluation.end(.success(Success(reply.result, of: request.policy)))
        } catch {
            evaluation.end(.failure(.ended(error)))
        }
    }

    /// Tells the service that nobody waits for this evaluation any more.
    nonisolated func cancel(_ evaluation: Evaluation) {
        BusQueue.post { [token = evaluation.token] in
            guard self.evaluations[token] != nil, let service = self.service else { return }
            service.connection.tell(
                Cancel.self, Cancel.Arguments(token: token), to: .service(service.name),
                at: Service.path)
        }
    }

    // MARK: Changes

    /// From now on `onChange` is called whenever the environment may be another one, until the
    /// connection ends: then `onDisconnect` is.
    func watch(
        onChange: @escaping () -> Void, onDisconnect: @escaping () -> Void
    ) async throws(BusError) {
        self.onChange = onChange
        self.onDisconnect = onDisconnect
        let service = try connect()
        if !isListening {
            isListening = true
            service.onSignal(EnvironmentChangedSignal.self) { [weak self] _, _ in
                self?.onChange?()
            }
            // Another service may know something else, and watches for nobody before it is asked.
            service.onOwnerChange = { [weak self] owner in
                guard let self, self.onChange != nil else { return }
                if owner != nil { BusQueue.task { try? await self.keepServiceThere() } }
                self.onChange?()
            }
        }
        try await keepServiceThere()
    }

    /// Ends what `watch` began.
    func unwatch() async {
        onChange = nil
        onDisconnect = nil
        guard let service else { return }
        _ = try? await service.call(
            Unwatch.self, NoValues(), at: Service.path, deadline: Self.deadline)
    }

    /// A service that nobody watches leaves when it is idle, and then tells of no change.
    private func keepServiceThere() async throws(BusError) {
        _ = try await call(Watch.self, NoValues())
    }
}

/// What the service says before an evaluation.
struct Availability: Sendable {
    let answer: Result<Void, LAError>
    let environment: EnvironmentSnapshot
}

extension LAPolicy {
    /// Its number on the bus.
    var wire: UInt32 { UInt32(rawValue) }
}

extension LAError {
    /// Why the policy cannot be evaluated, as the service says.
    init(_ reply: CanEvaluatePolicy.Reply) {
        // A code that this version does not know is no reason to say yes.
        let code = Code(rawValue: Int(reply.code)) ?? .biometryNotAvailable
        self.init(code, detail: reply.message)
    }
}
