// SPDX-License-Identifier: Apache-2.0

internal import SystemSupport

/// One evaluation, from the call to its reply, which is given exactly once.
///
/// Whoever ends it first decides: the service, the application, or the time. That may happen on any
/// thread. It knows nothing of the context that it belongs to, so that the context can be let go.
final class Evaluation: Sendable {
    typealias Outcome = Result<Success, LAError>
    typealias Reply = @Sendable (Outcome) -> Void

    /// What it is called on the bus; nobody else's evaluation has the same.
    let token = "la-" + UUID().uuidString

    /// Each state holds whom to reply to, as soon as that is known.
    private enum Stage {
        case running(Reply?)
        /// Decided; the context is being told.
        case ending(Reply?)
        /// Over before anybody waited for it.
        case ended(Outcome)
        case replied
    }

    private let stage = Locked(Stage.running(nil))
    private let deadline = Locked<Deadline?>(nil)
    /// Where the application is called: one call after the other, in order.
    private let queue: DispatchQueue
    private let hear: (@Sendable (LAEvaluationEvent) -> Void)?
    /// Called once, with the outcome, before the reply is.
    private let settle: @Sendable (Evaluation, Outcome) -> Void

    init(
        on queue: DispatchQueue, hear: (@Sendable (LAEvaluationEvent) -> Void)? = nil,
        settle: @escaping @Sendable (Evaluation, Outcome) -> Void
    ) {
        self.queue = queue
        self.hear = hear
        self.settle = settle
    }

    var hasEnded: Bool {
        stage.withLock { stage in
            if case .running = stage { false } else { true }
        }
    }

    /// Calls `reply` with the outcome, later and on the private queue, also where that is known
    /// already. To be called once.
    func whenEnded(_ reply: @escaping Reply) {
        let outcome: Outcome? = stage.withLock { stage in
            switch stage {
            case .running: stage = .running(reply)
            case .ending: stage = .ending(reply)
            case .ended(let outcome):
                stage = .replied
                return outcome
            case .replied: break
            }
            return nil
        }
        if let outcome { queue.async { reply(outcome) } }
    }

    /// Ends it; whoever comes later comes too late.
    func end(_ outcome: Outcome) {
        let isFirst = stage.withLock { stage in
            guard case .running(let reply) = stage else { return false }
            stage = .ending(reply)
            return true
        }
        guard isFirst else { return }
        deadline.withLock { $0 = nil }
        settle(self, outcome)
        let reply: Reply? = stage.withLock { stage in
            guard case .ending(let reply) = stage else { return nil }
            stage = reply == nil ? .ended(outcome) : .replied
            return reply
        }
        if let reply { queue.async { reply(outcome) } }
    }

    /// Ends it after so many seconds, whatever the service and the bus do.
    func endByItself(after seconds: TimeInterval) {
        let deadline = Deadline(after: seconds, on: queue) { [weak self] in
            self?.end(.failure(.overdue))
        }
        self.deadline.withLock { $0 = deadline }
        // What ended meanwhile has found none to let go.
        if hasEnded { self.deadline.withLock { $0 = nil } }
    }

    /// Hands over what has happened meanwhile.
    func tell(_ event: LAEvaluationEvent) {
        guard let hear, !hasEnded else { return }
        queue.async { hear(event) }
    }
}
