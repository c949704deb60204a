// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import LocalAuthContract

/// Something that a client was told.
package enum Heard: Hashable, Sendable {
    case progress(token: String, state: String)
    case retry(token: String, cause: String, attemptsLeft: UInt32)
    case lockout(lockedOut: Bool, attemptsLeft: UInt32, secondsLeft: UInt32)
    case environmentChanged
    case enrolled(token: String, done: UInt32, total: UInt32, cause: String)
}

/// One application on a private bus: calls the service and keeps what it is told, in order.
@BusQueue package final class TestClient {
    package let connection: BusConnection
    package let service: RemoteService
    /// Everything that was heard, in order.
    package private(set) var heard: [Heard] = []
    private var unclaimed: [Heard] = []
    private var waiting: [(id: UInt64, matches: (Heard) -> Bool, resume: (Heard?) -> Void)] = []
    private var lastWait: UInt64 = 0
    private var owners: [CheckedContinuation<Bool, Never>] = []
    private var isClosed = false

    package init(_ bus: PrivateBus) async throws {
        connection = try bus.connect()
        service = RemoteService(Service.name, on: connection)
        service.onOwnerChange = { [weak self] owner in
            if owner != nil { self?.announceOwner(true) }
        }
        connection.onDisconnect = { [weak self] in self?.end() }
        listen()
        await service.findOwner()
    }

    /// Waits until somebody has the service's name; false when the client is closed first.
    package func waitForService() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !isClosed, service.owner == nil else {
                    return continuation.resume(returning: !isClosed)
                }
                owners.append(continuation)
            }
        } onCancel: {
            BusQueue.post { self.announceOwner(false) }
        }
    }

    /// Leaves the bus at once, as a process that dies does.
    package func close() {
        guard !isClosed else { return }
        end()
        connection.close()
    }

    // MARK: Calls

    package func call<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments
    ) async throws(BusError) -> M.Reply {
        try await service.call(method, arguments, at: Service.path, deadline: .seconds(60))
    }

    package func can(_ policy: UInt32 = 1) async throws(BusError) -> CanEvaluatePolicy.Reply {
        try await call(CanEvaluatePolicy.self, CanEvaluatePolicy.Arguments(policy: policy))
    }

    /// Asks again after each word of a change, until the answer has this code.
    package func waitUntilCan(_ code: Int32) async throws(BusError) {
        while try await can().code != code { await next { $0 == .environmentChanged } }
    }

    package func evaluate(
        policy: UInt32 = 1, reason: String = "open the safe", _ options: [String: BusValue] = [:]
    ) async throws(BusError) -> [String: BusValue] {
        // What it was told and nobody waited for must not be taken for word of the next one.
        defer { forgetWaiting(options["token"]) }
        return try await call(
            EvaluatePolicy.self,
            EvaluatePolicy.Arguments(policy: policy, localizedReason: reason, options: options)
        ).result
    }

    private func forgetWaiting(_ token: BusValue?) {
        var name = ""
        if case .string(let text)? = token { name = text }
        unclaimed.removeAll { $0 == .progress(token: name, state: "waiting-for-finger") }
    }

    package func cancel(_ token: String = "") async throws(BusError) {
        _ = try await call(Cancel.self, Cancel.Arguments(token: token))
    }

    package func enrol(
        _ finger: String, user: String = "", _ options: [String: BusValue] = [:]
    ) async throws(BusError) {
        _ = try await call(
            EnrollFinger.self,
            EnrollFinger.Arguments(user: user, finger: finger, options: options))
    }

    package func delete(_ fingers: [String] = [], user: String = "") async throws(BusError) {
        _ = try await call(
            DeleteFingers.self, DeleteFingers.Arguments(user: user, fingers: fingers))
    }

    package func erase(_ reader: ObjectPath) async throws(BusError) {
        _ = try await call(EraseReader.self, EraseReader.Arguments(reader: reader))
    }

    package func list(user: String = "") async throws(BusError) -> [String] {
        try await call(ListFingers.self, ListFingers.Arguments(user: user)).fingers
    }

    package func resetLockout(user: String = "") async throws(BusError) {
        _ = try await call(ResetLockout.self, UserArgument(user: user))
    }

    package func environment() async throws(BusError) -> [String: BusValue] {
        try await call(GetEnvironment.self, NoValues()).environment
    }

    // MARK: Signals

    /// Waits for something to be heard that was not waited for before; what comes earlier can be
    /// waited for later. `nil` when the client was closed first, or the test's time is over.
    @discardableResult
    package func next(_ matches: @escaping @Sendable (Heard) -> Bool) async -> Heard? {
        lastWait += 1
        let id = lastWait
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Looked at here and not before: on the way here others can have their turn.
                if let index = unclaimed.firstIndex(where: matches) {
                    return continuation.resume(returning: unclaimed.remove(at: index))
                }
                guard !isClosed, !Task.isCancelled else {
                    return continuation.resume(returning: nil)
                }
                waiting.append((id, matches, { continuation.resume(returning: $0) }))
            }
        } onCancel: {
            BusQueue.post { self.giveUp(id) }
        }
    }

    /// What was heard so far need not be waited for.
    package func forgetHeard() { unclaimed = [] }

    private func giveUp(_ id: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).resume(nil)
    }

    /// Ends every wait for something to be heard: it will not come any more.
    package func stopWaiting() {
        let waiters = waiting
        waiting = []
        for waiter in waiters { waiter.resume(nil) }
    }

    /// Waits until the reader waits for a finger.
    package func fingerIsNeeded() async {
        await next { heard in
            if case .progress(_, "waiting-for-finger") = heard { true } else { false }
        }
    }

    /// Waits for the next retry.
    @discardableResult
    package func nextRetry() async -> Heard? {
        await next { heard in if case .retry = heard { true } else { false } }
    }

    /// Waits for the next word of an enrolment.
    @discardableResult
    package func nextStage() async -> Heard? {
        await next { heard in if case .enrolled = heard { true } else { false } }
    }

    /// Every word of enrolments so far.
    package var stages: [Heard] {
        heard.filter { heard in if case .enrolled = heard { true } else { false } }
    }

    /// Every word of a lockout so far.
    package var heardLockouts: [Heard] {
        heard.filter { heard in if case .lockout = heard { true } else { false } }
    }

    private func listen() {
        service.onSignal(ProgressSignal.self) { [weak self] signal, _ in
            self?.hear(.progress(token: signal.token, state: signal.state))
        }
        service.onSignal(RetrySignal.self) { [weak self] signal, _ in
            self?.hear(
                .retry(
                    token: signal.token, cause: signal.cause, attemptsLeft: signal.attemptsLeft))
        }
        service.onSignal(LockoutSignal.self) { [weak self] signal, _ in
            self?.hear(
                .lockout(
                    lockedOut: signal.lockedOut, attemptsLeft: signal.attemptsLeft,
                    secondsLeft: signal.secondsLeft))
        }
        service.onSignal(EnvironmentChangedSignal.self) { [weak self] _, _ in
            self?.hear(.environmentChanged)
        }
        service.onSignal(EnrollProgressSignal.self) { [weak self] signal, _ in
            self?.hear(
                .enrolled(
                    token: signal.token, done: signal.done, total: signal.total,
                    cause: signal.cause))
        }
    }

    private func hear(_ what: Heard) {
        heard.append(what)
        guard let index = waiting.firstIndex(where: { $0.matches(what) }) else {
            unclaimed.append(what)
            return
        }
        waiting.remove(at: index).resume(what)
    }

    private func announceOwner(_ isThere: Bool) {
        for owner in owners { owner.resume(returning: isThere) }
        owners = []
    }

    private func end() {
        isClosed = true
        announceOwner(false)
        stopWaiting()
    }
}
