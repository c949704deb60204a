// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import FingerprintReaders
internal import Glibc
internal import LocalAuthModel
internal import LocalAuthService
internal import PrintStorage
internal import SystemAuthorities
internal import SystemSupport

/// The daemon's life: wires the real parts together, takes the name, and leaves when it is told
/// to, when it has been idle, or when the bus is gone.
@BusQueue final class Daemon {
    private let options: Options
    private let configuration: Configuration
    private let log: Log
    private var connection: BusConnection?
    private var service: AuthenticationService?
    /// Counts the calls that have come.
    private var calls: UInt64 = 0
    private var isStopping = false

    init(_ options: Options, _ configuration: Configuration) {
        self.options = options
        self.configuration = configuration
        log = Log(topic: "localauthd", threshold: options.isVerbose ? .debug : .notice)
    }

    func start() {
        let connection: BusConnection
        do throws(BusError) {
            connection = try BusConnection()
        } catch {
            LocalAuthDaemon.fail("no system bus: \(error.message)", status: 1)
        }
        self.connection = connection
        connection.onDisconnect = { [log] in
            log.error("the bus is gone")
            exit(1)
        }
        connection.onCall = { [weak self] in self?.calls += 1 }
        let service = AuthenticationService(
            on: connection, ports: ports(on: connection), settings: configuration.service,
            boot: bootID(), version: LocalAuthDaemon.version, log: log)
        self.service = service
        service.export()
        BusQueue.task {
            await takeName(service)
            await service.start()
            log.notice("ready")
            watchIdleness(since: calls)
        }
    }

    /// Answers everybody and leaves; within three seconds, whatever the hardware does.
    func stop() {
        guard !isStopping else { return }
        isStopping = true
        log.notice("stopping")
        _ = BusQueue.executor.after(.seconds(3)) { exit(0) }
        BusQueue.task {
            await service?.stop()
            leave()
        }
    }

    private func leave() -> Never {
        connection?.close()
        exit(0)
    }

    private func takeName(_ service: AuthenticationService) async {
        do throws(BusError) {
            guard try await service.takeName() else {
                log.notice("another instance has the name")
                leave()
            }
        } catch {
            LocalAuthDaemon.fail("the name was refused: \(error.message)", status: 1)
        }
    }

    // MARK: Idleness

    private func watchIdleness(since count: UInt64) {
        let seconds = options.idleExit ?? configuration.idleExit
        guard seconds > 0 else { return }
        _ = BusQueue.executor.after(.seconds(Int64(seconds))) { [weak self] in
            BusQueue.assumeIsolated {
                guard let self, !self.isStopping else { return }
                guard self.calls == count, self.service?.isIdle == true else {
                    return self.watchIdleness(since: self.calls)
                }
                BusQueue.task {
                    await self.leaveIfIdle(since: count)
                }
            }
        }
    }

    /// Gives the name back first: calls that were sent to it before have then arrived, and those
    /// that are sent later start a new daemon. So none is lost.
    private func leaveIfIdle(since count: UInt64) async {
        guard let service else { return }
        do throws(BusError) {
            try await service.giveNameBack()
        } catch {
            log.warning("the name could not be given back", ["error": "\(error)"])
        }
        if calls == count {
            log.notice("idle")
            await service.stop()
            leave()
        }
        await takeName(service)
        watchIdleness(since: calls)
    }

    // MARK: Parts

    private func ports(on connection: BusConnection) -> ServicePorts {
        let storage = PollExecutor(name: "storage")
        let lookups = PollExecutor(name: "lookup")
        storage.start()
        lookups.start()
        let sessions: any SessionWatching =
            switch configuration.sessions {
            case .logind: LogindSessions(on: connection, log: log.topic("sessions"))
            case .none: NoSessions()
            }
        let authority: any Authorizing =
            switch configuration.authority {
            case .polkit: PolkitAuthority(on: connection, log: log.topic("polkit"))
            case .local: LocalAuthority()
            }
        return ServicePorts(
            readers: FprintReaders(log: log.topic("readers")),
            prints: PrintStore(
                directory: options.printDirectory, executor: storage,
                log: log.topic("prints")),
            lockouts: LockoutStore(
                directory: options.stateDirectory, executor: storage,
                log: log.topic("lockout")),
            sessions: sessions, machine: NoMachine(), authority: authority,
            accounts: SystemAccounts(executor: lookups))
    }

    /// Without the kernel's word a random one: then a timed lockout of an earlier run counts as
    /// one of an earlier boot, which never shortens it.
    private func bootID() -> BootID {
        let text = try? readSmallFile("/proc/sys/kernel/random/boot_id", limit: 64)
        let id = text?.split(separator: "\n").first.flatMap { BootID(String($0)) }
        guard let id = id ?? BootID(String(UInt64.random(in: .min ... .max), radix: 16)) else {
            preconditionFailure("hexadecimal digits are a boot id")
        }
        return id
    }
}
