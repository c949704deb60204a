// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import LocalAuthContract
package import LocalAuthModel
package import SystemSupport

/// The adapters that the service works with; it knows them only by what they promise.
package struct ServicePorts: Sendable {
    package var readers: any ReaderDriving
    package var prints: any PrintStoring
    package var generations: any GenerationStoring
    package var lockouts: any LockoutStoring
    package var history: any HistoryStoring
    package var sessions: any SessionWatching
    package var machine: any MachineWatching
    package var authority: any Authorizing
    package var accounts: any AccountLookup
    package var programs: any ProgramLookup
    package var passwords: any PasswordVerifying

    package init(
        readers: any ReaderDriving, prints: any PrintStoring,
        generations: any GenerationStoring, lockouts: any LockoutStoring,
        history: any HistoryStoring, sessions: any SessionWatching, machine: any MachineWatching,
        authority: any Authorizing, accounts: any AccountLookup, programs: any ProgramLookup,
        passwords: any PasswordVerifying
    ) {
        self.readers = readers
        self.prints = prints
        self.generations = generations
        self.lockouts = lockouts
        self.history = history
        self.sessions = sessions
        self.machine = machine
        self.authority = authority
        self.accounts = accounts
        self.programs = programs
        self.passwords = passwords
    }
}

/// What the administrator can set of the service's rules.
package struct ServiceSettings: Sendable {
    package var defaultTimeout: Duration = .seconds(20)
    package var lockout = LockoutRules()
    /// Whether a finger may be asked for only where a prompt is shown.
    package var requiresAgent = false
    /// How long a person may take from one touch of an enrolment to the next.
    package var enrolmentPatience: Duration = .seconds(60)
    /// How long a person may take for the password that enrolling and deleting need.
    package var passwordPatience: Duration = .seconds(120)
    package var driverPatience = DriverPatience()
    package var promptPatience = PromptPatience()
    package init() {}
}

/// How long drivers may take before nobody waits for them any more.
package struct DriverPatience: Sendable {
    /// To end what was cancelled.
    package var cancelling: Duration = .seconds(5)
    /// For what no person has a part in: opening, deleting, closing.
    package var working: Duration = .seconds(10)
    package init() {}
}

/// The service on the bus: puts its parts together, starts and ends them.
@BusQueue package final class AuthenticationService {
    private let connection: BusConnection
    private let ports: ServicePorts
    private let callers: CallerRegistry
    private let gate: Gate
    private let biometry: BiometryState
    private let line = ReaderLine()
    private let audience: Audience
    private let history: HistoryKeeper
    private let successes: SuccessMemory
    private let tickets = TicketKeeper()
    private let evaluations: EvaluationRunner
    private let management: ManagementAdaptor
    private let main: MainAdaptor
    private let agents: AgentRegistry
    private let agentManager: AgentAdaptor
    private let log: Log
    /// Called with the number of readers when it may be another than before.
    package var onReaders: ((Int) -> Void)?

    package init(
        on connection: BusConnection, ports: ServicePorts, settings: ServiceSettings,
        boot: BootID, version: String, log: Log
    ) {
        self.connection = connection
        self.ports = ports
        self.log = log
        callers = CallerRegistry(
            on: connection, accounts: ports.accounts, programs: ports.programs)
        gate = Gate(callers: callers, sessions: ports.sessions, authority: ports.authority)
        audience = Audience(on: connection)
        history = HistoryKeeper(store: ports.history, log: log.topic("history"))
        successes = SuccessMemory(gate: gate)
        let prints = PrintIndex(store: ports.prints, log: log.topic("prints"))
        biometry = BiometryState(
            readers: ReaderRegistry(on: connection), prints: prints,
            states: DomainStates(
                prints: prints, store: ports.generations, log: log.topic("enrolment")),
            lockout: LockoutKeeper(
                store: ports.lockouts, rules: settings.lockout, boot: boot,
                log: log.topic("lockout")),
            care: ReaderCare(log: log.topic("readers")))
        agents = AgentRegistry(on: connection, gate: gate)
        let feasibility = Feasibility(
            biometry: biometry, agents: agents, passwords: ports.passwords,
            requiresAgent: settings.requiresAgent)
        evaluations = EvaluationRunner(
            EvaluationServices(
                callers: callers, accounts: ports.accounts, gate: gate, biometry: biometry,
                feasibility: feasibility, agents: agents, passwords: ports.passwords, line: line,
                readers: ports.readers, prints: ports.prints, audience: audience,
                fingers: FingerMemory(), prompts: PromptKeeper(settings.promptPatience),
                history: history,
                attestations: AttestationServices(
                    states: biometry.states, successes: successes, tickets: tickets),
                rules: settings.lockout, patience: settings.driverPatience,
                log: log.topic("evaluation")))
        management = ManagementAdaptor(
            callers: callers,
            management: Management(
                ManagementServices(
                    gate: gate, evaluations: evaluations, accounts: ports.accounts,
                    biometry: biometry, line: line,
                    readers: ports.readers, prints: ports.prints, history: history,
                    patience: settings.enrolmentPatience,
                    passwordPatience: settings.passwordPatience,
                    driverPatience: settings.driverPatience, log: log.topic("management"))),
            on: connection)
        main = MainAdaptor(
            callers: callers, gate: gate, biometry: biometry, feasibility: feasibility,
            agents: agents, passwords: ports.passwords, evaluations: evaluations,
            tickets: tickets, audience: audience, defaultTimeout: settings.defaultTimeout,
            version: version)
        agentManager = AgentAdaptor(callers: callers, agents: agents)
        connectParts()
    }

    /// Serves the objects. Comes before the name is taken, so that whoever finds the name finds
    /// them too.
    package func export() {
        connection.export(
            BusObject(
                Service.path, [main.interface, management.interface, agentManager.interface],
                isManager: true))
    }

    /// Takes the service's name; false when another instance has it.
    package func takeName() async throws(BusError) -> Bool {
        try await connection.requestName(Service.name)
    }

    /// Gives the name back.
    package func giveNameBack() async throws(BusError) {
        try await connection.releaseName(Service.name)
    }

    /// Begins to look at the machine, sessions, prints and readers. Questions that come meanwhile
    /// wait for it, though not for ever: hardware can hang.
    package func start() async {
        _ = BusQueue.executor.after(.seconds(2)) { [weak self] in
            BusQueue.assumeIsolated { self?.biometry.becomeReady() }
        }
        // Beside the rest, so that nobody waits for a logind that does not answer.
        let machine = BusQueue.task { [weak self] in await self?.watchMachine() }
        await ports.sessions.start { [weak self] in
            BusQueue.post { self?.presenceChanged() }
        }
        await ports.passwords.start { [weak self] in
            BusQueue.post { self?.audience.environmentChanged() }
        }
        do throws(StorageFailure) {
            try await ports.prints.start { [weak self] user in
                BusQueue.post { self?.biometry.prints.noteChange(of: user) }
            }
        } catch {
            log.error("the prints cannot be watched", ["error": "\(error)"])
            biometry.prints.isTold = false
        }
        await ports.readers.start { [weak self] change in
            BusQueue.post { self?.biometry.take(change) }
        }
        await machine.value
        biometry.becomeReady()
    }

    /// Whether nobody waits for anything, the machine is awake, and no reader is in use, at rest or
    /// still warm: how it is would be forgotten. So would a session's agent, and a success that may
    /// be wanted again.
    package var isIdle: Bool {
        isIdleButForWatchers && audience.isUnwatched && agents.isEmpty && successes.isIdle
    }

    /// The same for an instance that has to leave soon; whoever watches or shows prompts asks the
    /// next one to let it.
    package var isIdleButForWatchers: Bool {
        evaluations.isIdle && management.isIdle && line.isEmpty && history.isIdle
            && biometry.lockout.isWritten && tickets.isIdle && biometry.states.isIdle
            && !biometry.isAsleep && !biometry.care.isAnyResting
            && biometry.readers.readers.allSatisfy { $0.temperature == .cold }
    }

    /// Ends everything that goes on, with an answer, and lets the readers go.
    package func stop() async {
        evaluations.stop()
        management.stop()
        // Work on prints is answered when it has really ended, and until then needs its reader.
        await management.waitUntilIdle()
        await BusQueue.wait(atMost: .milliseconds(500)) {
            await self.biometry.states.waitUntilIdle()
            await self.history.waitUntilWritten()
        }
        // Everybody has an answer. A driver that does not let go is left to the kernel.
        await BusQueue.wait(atMost: .milliseconds(500)) { await self.ports.readers.stop() }
    }

    private func connectParts() {
        connection.watchPeers { [weak self] name in self?.forget(name) }
        let changed: () -> Void = { [weak self] in self?.audience.environmentChanged() }
        biometry.care.onChange = changed
        biometry.onLoss = changed
        biometry.readers.onChange = { [weak self] in
            changed()
            if let self { onReaders?(biometry.readers.readers.count) }
        }
        biometry.prints.onChange = { [biometry, successes] user in
            successes.forget(user)
            biometry.forgetLosses(of: user)
            biometry.states.noteChange(of: user)
            changed()
        }
        agents.onChange = changed
        biometry.lockout.onChange = { [weak self] account, standing in
            guard let self else { return }
            audience.lockout(account, standing, and: evaluations.callers(about: account))
            audience.environmentChanged()
        }
    }

    private func presenceChanged() {
        BusQueue.task { await self.gate.forgetDecisions() }
        successes.presenceChanged()
        evaluations.presenceChanged()
        management.presenceChanged()
        audience.environmentChanged()
    }

    // MARK: Lid and sleep

    private func watchMachine() async {
        await ports.machine.start { [weak self] lid in
            BusQueue.post { self?.lidMoved(lid) }
        } sleep: { [weak self] in
            await self?.fallAsleep()
        } wake: { [weak self] in
            await self?.wakeUp()
        }
    }

    private func lidMoved(_ lid: LidState) {
        biometry.setLid(lid)
        evaluations.reachChanged()
        management.reachChanged()
        audience.environmentChanged()
    }

    /// Everybody is answered and every reader closed, or suspended where its driver takes long.
    /// The machine waits for this, and not for long.
    private func fallAsleep() async {
        log.notice("the machine is about to sleep")
        biometry.fallAsleep()
        successes.forgetAll()
        evaluations.interruptAll()
        management.interruptAll()
        audience.environmentChanged()
        await evaluations.waitUntilIdle(atMost: Self.closingTime)
        await management.waitUntilIdle(atMost: Self.closingTime)
        await ports.readers.suspend()
    }

    private func wakeUp() async {
        await ports.readers.resume()
        biometry.wakeUp()
        log.notice("the machine is awake")
        audience.environmentChanged()
    }

    /// How long readers may take to close before they are suspended as they are: most close within
    /// a few milliseconds, and image readers within a tenth of a second.
    private static let closingTime: Duration = .milliseconds(150)

    private func forget(_ name: UniqueName) {
        callers.forget(name)
        evaluations.forget(name)
        successes.forget(name)
        management.forget(name)
        audience.unwatch(name)
        agents.forget(name)
        BusQueue.task { await self.gate.forget(name) }
    }
}
