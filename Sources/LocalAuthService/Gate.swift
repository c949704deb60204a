// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// Proof that a caller may do an action. Only `Gate` can make one.
struct Grant: Sendable {
    let caller: Caller
    let action: Action
    fileprivate init(caller: Caller, action: Action) {
        self.caller = caller
        self.action = action
    }
}

/// Decides whether a caller may ask at all: first where it sits, then what it may, then whether
/// it is still there. Says no by default.
@BusQueue final class Gate {
    private let callers: CallerRegistry
    private let sessions: any SessionWatching
    private let authority: any Authorizing

    init(callers: CallerRegistry, sessions: any SessionWatching, authority: any Authorizing) {
        self.callers = callers
        self.sessions = sessions
        self.authority = authority
    }

    /// Whether managing one's own prints needs the account's password on top.
    var asksForPassword: Bool { authority.asksForPassword }

    /// Lets the caller pass or says why not.
    /// - Parameters:
    ///   - caller: who asks.
    ///   - action: what for.
    ///   - interactive: whether the authority may ask the user.
    ///   - mustBePresent: whether the caller has to sit at the machine.
    /// - Returns: the proof.
    /// - Throws: `notInteractive`, `notAuthorized`, or `appCancel` when the caller has gone.
    func admit(
        _ caller: Caller, to action: Action, interactive: Bool, mustBePresent: Bool = true
    ) async throws(EvaluationError) -> Grant {
        if mustBePresent { try await requirePresence(of: caller) }
        // Nothing is found out, and kept, about one who has left.
        guard callers.isPresent(caller) else { throw .appCancel }
        switch await authority.decide(action, for: caller, interactive: interactive) {
        case .granted: break
        case .denied, .unanswered: throw .notAuthorized
        }
        // The questions may have taken long.
        guard callers.isPresent(caller) else { throw .appCancel }
        return Grant(caller: caller, action: action)
    }

    /// Passes only if the caller sits at the machine now.
    func requirePresence(of caller: Caller) async throws(EvaluationError) {
        guard callers.isPresent(caller) else { throw .appCancel }
        switch await sessions.seating(of: caller).presence {
        case .present: break
        case .absent, .unknown: throw .notInteractive
        }
    }

    /// Where the caller sits now.
    func seating(of caller: Caller) async -> Seating { await sessions.seating(of: caller) }

    /// Whether the caller's connection is still on the bus.
    func isStillThere(_ caller: Caller) -> Bool { callers.isPresent(caller) }

    /// The caller's connection has ended.
    func forget(_ connection: UniqueName) async { await authority.forget(connection.rawValue) }

    /// Where people sit has changed.
    func forgetDecisions() async { await authority.forgetAll() }
}
