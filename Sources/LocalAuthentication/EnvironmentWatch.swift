// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import SystemSupport

/// Tells observers of changes, as long as there are any.
final class EnvironmentWatch: Sendable {
    private struct Observer {
        weak var observer: (any LAEnvironmentObserver)?
        weak var environment: LAEnvironment?
    }

    private let link: ServiceLink
    private let queue = DispatchQueue(label: "org.example.LocalAuth.environment")
    private let observers = Locked<[Observer]>([])
    @BusQueue private var isWatching = false
    @BusQueue private var last: EnvironmentSnapshot?
    /// Seconds until the bus is looked for again; it doubles each time.
    @BusQueue private var delay: Int64 = 1

    init(link: ServiceLink) { self.link = link }

    func add(_ observer: any LAEnvironmentObserver, of environment: LAEnvironment) {
        observers.withLock { observers in
            observers.removeAll { $0.observer == nil }
            guard !observers.contains(where: { $0.observer === observer }) else { return }
            observers.append(Observer(observer: observer, environment: environment))
        }
        BusQueue.post { self.update() }
    }

    func remove(_ observer: any LAEnvironmentObserver) {
        observers.withLock { $0.removeAll { $0.observer == nil || $0.observer === observer } }
        BusQueue.post { self.update() }
    }

    private var hasObservers: Bool {
        observers.withLock { observers in
            observers.removeAll { $0.observer == nil }
            return !observers.isEmpty
        }
    }

    /// Watches when there are observers, and does not when there are none.
    @BusQueue private func update() {
        let isWanted = hasObservers
        guard isWanted != isWatching else { return }
        isWatching = isWanted
        if isWanted {
            BusQueue.task { await self.begin() }
        } else {
            last = nil
            BusQueue.task { await self.link.unwatch() }
        }
    }

    @BusQueue private func begin() async {
        let onChange: () -> Void = { [weak self] in
            BusQueue.task { await self?.compare() }
        }
        do throws(BusError) {
            try await link.watch(
                onChange: onChange, onDisconnect: { [weak self] in self?.tryAgain() })
            delay = 1
        } catch {
            // Without the service there is a bus that tells when there is one. Without the bus
            // somebody has to look.
            if !link.isConnected { tryAgain() }
        }
        await compare()
    }

    @BusQueue private func tryAgain() {
        guard isWatching else { return }
        let wait = delay
        delay = min(delay * 2, 60)
        BusQueue.task {
            await self.compare()
            await BusQueue.sleep(.seconds(wait))
            guard self.isWatching else { return }
            await self.begin()
        }
    }

    /// Looks what there is now, and tells when it is not what there was.
    @BusQueue private func compare() async {
        guard isWatching, hasObservers else { return update() }
        let now = await link.environment()
        guard isWatching, let before = last else {
            last = now
            return
        }
        guard now != before else { return }
        last = now
        let told = observers.withLock { observers in
            observers.compactMap { entry in
                entry.observer.flatMap { observer in
                    entry.environment.map { (observer, $0) }
                }
            }
        }
        let oldState = LAEnvironment.State(before)
        queue.async {
            for (observer, environment) in told {
                observer.environment(environment, stateDidChangeFromOldState: oldState)
            }
        }
    }
}
