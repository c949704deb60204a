// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import FingerprintReaders
internal import Glibc
internal import LocalAuthContract
internal import LocalAuthModel
internal import LocalAuthService
internal import PasswordFallback
internal import PrintStorage
internal import SystemAuthorities
internal import SystemSupport

/// The daemon's life: wires the real parts together, takes the name, and leaves when it is told
/// to, when it has been idle, or when the bus is gone.
@BusQueue final class Daemon {
    let log: Log
    let manager: ServiceManager
    let options: Options
    let configuration: Configuration
    private(set) var connection: BusConnection?
    private(set) var service: AuthenticationService?
    /// Counts the calls that have come.
    private(set) var calls: UInt64 = 0
    private(set) var isStopping = false
    /// How long the service manager has been told that leaving takes longer; `nil`: it has not.
    var extraTime: Duration?

    init(_ options: Options, _ configuration: Configuration, _ manager: ServiceManager) {
        self.options = options
        self.configuration = configuration
        self.manager = manager
        log = Log(topic: "localauthd", threshold: options.isVerbose ? .debug : .notice)
    }

    func start(_ signals: SignalWatch) {
        let connection: BusConnection
        do throws(BusError) {
            connection = try signals.lettingThrough { () throws(BusError) in try BusConnection() }
        } catch {
            LocalAuthDaemon.fail("no system bus: \(error.message)", status: 1)
        }
        self.connection = connection
        connection.onDisconnect = { [weak self] in
            self?.log.error("the bus is gone")
            self?.stop(status: 1)
        }
        connection.onCall = { [weak self] in self?.calls += 1 }
        let service = AuthenticationService(
            on: connection, ports: ports(on: connection), settings: configuration.service,
            boot: bootID(), version: LocalAuthDaemon.version, log: log)
        self.service = service
        service.onReaders = { [weak self] count in self?.tellStatus(readers: count) }
        service.export()
        BusQueue.task {
            guard await takeName(service) else {
                log.notice("another instance has the name")
                leave()
            }
            guard !isStopping else { return }
            manager.tellReady()
            await service.start()
            guard !isStopping else { return }
            log.notice("ready", id: .ready)
            watchIdleness(since: calls)
        }
    }

    // MARK: Leaving

    /// Answers everybody and leaves, within three seconds, whatever hardware and bus do. Prints
    /// that are being saved or deleted are finished.
    func stop(status: Int32 = 0, cause: String = "signal") {
        guard !isStopping else { return }
        isStopping = true
        if status == 0 { log.notice("stopping", ["cause": cause], id: .stopping) }
        manager.tellStopping()
        _ = BusQueue.executor.after(.milliseconds(2_300)) { [self] in
            BusQueue.assumeIsolated { () -> Void in leave(status: status) }
        }
        endProcess(after: .milliseconds(2_900), status: status)
        BusQueue.task { () -> Void in
            await service?.stop()
            // Whoever calls from now on starts the next instance.
            if status == 0 {
                await BusQueue.wait(atMost: .milliseconds(300)) { await self.giveNameBack() }
            }
            leave(status: status)
        }
    }

    /// Whoever still waits is answered. Nothing else is tidied up: another thread may be in the
    /// middle of something, and the kernel takes everything back.
    func leave(status: Int32 = 0) -> Never {
        connection?.answerRest(
            with: BusError(ServiceError.systemCancel.name, "The service has stopped."))
        connection?.close()
        _exit(status)
    }

    /// Takes the name; false when another instance has it.
    func takeName(_ service: AuthenticationService) async -> Bool {
        do throws(BusError) {
            return try await service.takeName()
        } catch {
            // The end of the connection is told elsewhere.
            guard !isStopping else { return true }
            LocalAuthDaemon.fail("the name was refused: \(error.message)", status: 1)
        }
    }

    /// Gives the name back. Calls that were sent to it before have then arrived.
    func giveNameBack() async {
        do throws(BusError) {
            try await service?.giveNameBack()
        } catch {
            log.warning("the name could not be given back", ["error": "\(error)"])
        }
    }

    private func tellStatus(readers count: Int) {
        manager.tellStatus(count == 1 ? "1 reader" : "\(count == 0 ? "no" : "\(count)") readers")
    }

    // MARK: Parts

    private func ports(on connection: BusConnection) -> ServicePorts {
        let storage = PollExecutor(name: "storage")
        // Apart from the other files, so that no evaluation waits for a trail to be on the disk.
        let history = PollExecutor(name: "history")
        let lookups = LookupThreads()
        history.start()
        storage.start()
        let sessions: any SessionWatching
        let machine: any MachineWatching
        switch configuration.sessions {
        case .logind:
            sessions = LogindSessions(on: connection, log: log.topic("sessions"))
            machine = LogindMachine(on: connection, log: log.topic("machine"))
        case .none: (sessions, machine) = (NoSessions(), NoMachine())
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
            generations: GenerationStore(
                directory: options.stateDirectory, executor: storage,
                log: log.topic("enrolment")),
            lockouts: LockoutStore(
                directory: options.stateDirectory, executor: storage,
                log: log.topic("lockout")),
            history: HistoryStore(
                directory: options.stateDirectory, executor: history, log: log.topic("history")),
            sessions: sessions, machine: machine, authority: authority,
            accounts: SystemAccounts(threads: lookups),
            programs: CallerPrograms(on: connection, threads: lookups),
            passwords: passwords(threads: lookups))
    }

    private func passwords(threads: LookupThreads) -> any PasswordVerifying {
        let log = log.topic("passwords")
        let shadow = ShadowDatabase(threads: threads, log: log)
        return SystemPasswords(
            helper: SystemPasswords.Helper(
                program: options.pamHelper, service: configuration.pamService,
                directory: options.pamDirectory),
            standings: { await shadow.standing(of: $0) }, watch: { shadow.tellChanges($0) },
            log: log)
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
