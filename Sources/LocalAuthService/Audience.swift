// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// Sends the signals, and only to those whom they concern.
@BusQueue final class Audience {
    private let connection: BusConnection
    private var watchers: [UniqueName: Account] = [:]
    private var isChangePlanned = false

    init(on connection: BusConnection) { self.connection = connection }

    /// From now on this connection hears of its user's evaluations.
    func watch(_ name: UniqueName, as account: Account) { watchers[name] = account }

    func unwatch(_ name: UniqueName) { watchers[name] = nil }

    var isUnwatched: Bool { watchers.isEmpty }

    /// To the connections given and everybody who watches this user.
    func send<S: BusSignal>(
        _ signal: S.Type, _ arguments: S.Arguments, about account: Account, and others: [UniqueName]
    ) {
        var names = Set(others)
        for (name, watched) in watchers where watched == account { names.insert(name) }
        for name in names { connection.send(signal, arguments, from: Service.path, to: name) }
    }

    /// Tells everybody to look again; several reasons at once make one signal.
    func environmentChanged() {
        guard !isChangePlanned else { return }
        isChangePlanned = true
        BusQueue.post { [self] in
            isChangePlanned = false
            connection.send(EnvironmentChangedSignal.self, NoValues(), from: Service.path)
        }
    }
}

extension Audience {
    func progress(_ evaluation: RunningEvaluation, _ progress: EvaluationProgress) {
        guard let account = evaluation.parties?.account else { return }
        send(
            ProgressSignal.self,
            ProgressSignal.Arguments(token: evaluation.token, state: progress.rawValue),
            about: account, and: [evaluation.connection])
    }

    func retry(_ evaluation: RunningEvaluation, cause: RetryCause?, attemptsLeft: UInt32) {
        guard let account = evaluation.parties?.account else { return }
        send(
            RetrySignal.self,
            RetrySignal.Arguments(
                token: evaluation.token, cause: cause.wireName, attemptsLeft: attemptsLeft,
                message: cause.message),
            about: account, and: [evaluation.connection])
    }

    func lockout(_ account: Account, _ standing: LockoutStanding, and callers: [UniqueName]) {
        send(
            LockoutSignal.self,
            LockoutSignal.Arguments(
                lockedOut: standing.isLocked, attemptsLeft: standing.attemptsLeft,
                secondsLeft: standing.secondsLeft),
            about: account, and: callers)
    }
}
