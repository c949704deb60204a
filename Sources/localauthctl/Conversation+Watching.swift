// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

extension Conversation {
    /// Shows the signals until Ctrl-C, also those of a service that was started anew.
    func watch() async throws(BusError) -> ExitCode {
        showSignals()
        await service.findOwner()
        interruption.action = { [self] _ in leave(.success) }
        _ = try await call(Watch.self, NoValues(), deadline: Self.deadline)
        output.event(.members(["type": "watching"]), "watching; Ctrl-C ends it")
        service.onOwnerChange = { [self] owner in
            guard owner != nil else {
                return show(.members(["type": "service-gone"]), "service gone")
            }
            BusQueue.task {
                do throws(BusError) {
                    _ = try await call(Watch.self, NoValues(), deadline: Self.deadline)
                    show(.members(["type": "watching"]), "service back")
                } catch {
                    // It can have gone again; of that the bus tells.
                    guard ExitCode(error) == .notReachable else { fail(error) }
                }
            }
        }
        await waitForever()
    }

    /// The end of the process is the end of this.
    func waitForever() async -> Never {
        while true { await BusQueue.sleep(.seconds(86_400)) }
    }

    private func showSignals() {
        service.onSignal(ProgressSignal.self) { [unowned self] progress, _ in
            show(progress.json, "progress: \(progress.state) [\(progress.token)]")
        }
        service.onSignal(RetrySignal.self) { [unowned self] retry, _ in
            show(
                retry.json,
                "retry: \(retry.cause), attempts left: \(retry.attemptsLeft) [\(retry.token)]")
        }
        service.onSignal(LockoutSignal.self) { [unowned self] lockout, _ in
            let state = lockout.lockedOut ? "began" : "ended"
            show(
                lockout.json,
                "lockout: \(state), attempts left: \(lockout.attemptsLeft), "
                    + "seconds left: \(lockout.secondsLeft)")
        }
        service.onSignal(EnvironmentChangedSignal.self) { [unowned self] _, _ in
            show(.members(["type": "environment-changed"]), "environment changed")
        }
    }

    private func show(_ json: JSON, _ line: String) {
        output.result(json, [line])
        if output.isUnread { leave(.success) }
    }
}
