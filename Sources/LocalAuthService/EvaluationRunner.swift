// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// Runs evaluations, and ends them when somebody or something wants them ended.
@BusQueue final class EvaluationRunner {
    private var services: EvaluationServices
    private var running: [TurnID: RunningEvaluation] = [:]
    private var isStopping = false
    private let endings = Waiters()

    init(_ services: EvaluationServices) {
        self.services = services
        self.services.hasRoom = { [weak self] user in self?.hasRoom(for: user) ?? false }
    }

    /// Whether nobody waits for anything. Readers that do not let go do not count: to leave is
    /// their cure.
    var isIdle: Bool { running.values.allSatisfy(\.hasYielded) }

    /// Evaluates; returns when there is an answer. From the beginning it can be cancelled, also
    /// while it is still being found out who asks.
    func run(
        _ request: EvaluationRequest, from connection: UniqueName, interactive: Bool
    ) async throws(EvaluationError) -> EvaluationSuccess {
        guard !isStopping else { throw .systemCancel }
        let evaluation = RunningEvaluation(
            id: services.line.makeID(), request, from: connection, interactive: interactive,
            services: services)
        running[evaluation.id] = evaluation
        let result = await withCheckedContinuation { continuation in
            evaluation.start { result in
                continuation.resume(returning: result)
            } onEnd: { [weak self] in
                self?.running[evaluation.id] = nil
                self?.endings.resume()
            }
        }
        return try result.get()
    }

    /// Ends the evaluations of a connection that carry the token; an empty token means all.
    func cancel(from connection: UniqueName, token: String) {
        end(.appCancel) {
            $0.connection == connection && (token.isEmpty || $0.token == token)
        }
    }

    /// The connection has ended.
    func forget(_ connection: UniqueName) { cancel(from: connection, token: "") }

    /// Somebody may not sit at the machine any more.
    func presenceChanged() {
        for evaluation in running.values { evaluation.recheckPresence() }
    }

    /// The lid was opened or closed.
    func reachChanged() {
        for evaluation in running.values { evaluation.recheckReaders() }
    }

    /// Ends everything that goes on.
    func interruptAll() { end(.systemCancel) { _ in true } }

    /// Ends everything; nothing begins any more.
    func stop() {
        isStopping = true
        interruptAll()
    }

    /// Returns when nothing goes on, or when the time is over.
    func waitUntilIdle(atMost limit: Duration) async {
        let end = ContinuousClock.now + limit
        while !isIdle, case let rest = end - .now, rest > .zero {
            await endings.wait(unless: { isIdle }, atMost: rest)
        }
    }

    /// The connections whose evaluations are about this user.
    func callers(about account: Account) -> [UniqueName] {
        running.values.filter { $0.parties?.account == account && !$0.isAnswered }
            .map(\.connection)
    }

    private func end(_ error: EvaluationError, where isMeant: (RunningEvaluation) -> Bool) {
        // The last to come first, so that nobody's turn comes only to be ended.
        for evaluation in running.values.sorted(by: { $0.id.number > $1.id.number })
        where isMeant(evaluation) {
            evaluation.take(.interrupted(error))
        }
    }

    /// Also counts those that are not in line yet, for whose sake the user may be asked things.
    /// The one that asks is counted too.
    private func hasRoom(for user: UserID) -> Bool {
        let users = running.values.filter { !$0.isAnswered }
            .compactMap { $0.parties?.caller.account.id }
        return users.count <= WaitingLimit.inAll
            && users.count(where: { $0 == user }) <= WaitingLimit.perUser
    }
}
