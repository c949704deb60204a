// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthService
internal import SystemSupport

/// Leaving when nobody needs the daemon, without losing the call of somebody who just then does.
extension Daemon {
    /// Leaves when so long nobody has called and nothing goes on.
    func watchIdleness(since count: UInt64) {
        let wanted = options.idleExit ?? configuration.idleExit
        guard wanted > 0 else { return }
        let seconds = extraTime == nil ? wanted : 1
        _ = BusQueue.executor.after(.seconds(Int64(seconds))) { [weak self] in
            BusQueue.assumeIsolated {
                guard let self, !self.isStopping else { return }
                guard self.calls == count, self.isIdle else {
                    return self.watchIdleness(since: self.calls)
                }
                BusQueue.task { await self.leaveIfIdle(since: count) }
            }
        }
    }

    /// Whether every call has its answer, nothing else goes on, and nobody watches.
    private var isIdle: Bool {
        isIdleButForWatchers && (extraTime != nil || service?.isIdle == true)
    }

    private var isIdleButForWatchers: Bool {
        connection?.hasUnansweredCalls == false && service?.isIdleButForWatchers == true
    }

    /// Gives the name back, and leaves unless a call came before that.
    ///
    /// The service manager is told first: it takes a service that runs for started, and would drop
    /// the bus's request to start it that comes between the loss of the name and our end. Once it
    /// knows, such a request waits until we have left. Without a manager the bus starts the next
    /// instance at once.
    private func leaveIfIdle(since count: UInt64) async {
        guard let service else { return }
        manager.tellStatus("idle")
        manager.tellStopping()
        await waitUntilManagerKnows()
        await giveNameBack()
        guard !isStopping else { return }
        if calls == count, isIdle {
            log.notice("stopping", ["cause": "idle"], id: .stopping)
            await service.stop()
            leave()
        }
        await goOn(service)
    }

    /// Serves on, because somebody has called: under the name again, which also brings the calls
    /// that the bus has kept; or without it, when the next instance was faster.
    private func goOn(_ service: AuthenticationService) async {
        log.debug("called while leaving")
        if manager.isPresent, extraTime == nil { askForTime(.zero) }
        guard await takeName(service) else { return leaveWhenIdle() }
        watchIdleness(since: calls)
    }

    /// The next instance has the name, so no call will come; those that have come are served.
    private func leaveWhenIdle() {
        _ = BusQueue.executor.after(.milliseconds(200)) { [self] in
            BusQueue.assumeIsolated {
                guard !isStopping else { return }
                if isIdleButForWatchers { leave() }
                leaveWhenIdle()
            }
        }
    }

    private func waitUntilManagerKnows() async {
        guard let barrier = manager.barrier() else { return }
        await BusQueue.wait(atMost: .seconds(1)) {
            await withCheckedContinuation { continuation in
                barrier.watch(on: BusQueue.executor) { continuation.resume() }
            }
        }
    }

    /// The manager ends a service that has said that it leaves and does not; so it is told, again
    /// and again, that this one needs longer. Not for ever: who stops the service, or the machine,
    /// waits for that.
    private func askForTime(_ soFar: Duration) {
        // No evaluation takes longer.
        guard soFar < .seconds(180) else { return stop(cause: "idle") }
        extraTime = soFar
        manager.tellStoppingTakes(.seconds(10))
        _ = BusQueue.executor.after(.seconds(2)) { [weak self] in
            BusQueue.assumeIsolated {
                guard let self, !self.isStopping else { return }
                self.askForTime(soFar + .seconds(2))
            }
        }
    }
}
