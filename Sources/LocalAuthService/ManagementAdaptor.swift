// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// Serves `org.example.LocalAuth.Management`. Decodes, asks, hands over, encodes; decides nothing.
@BusQueue final class ManagementAdaptor {
    private let callers: CallerRegistry
    private let management: Management
    private let connection: BusConnection
    private var running: [ObjectIdentifier: ManagementCall] = [:]
    private var isStopping = false
    private let endings = Waiters()

    init(callers: CallerRegistry, management: Management, on connection: BusConnection) {
        self.callers = callers
        self.management = management
        self.connection = connection
    }

    var isIdle: Bool { running.isEmpty }

    /// The connection has ended; nothing of its goes on.
    func forget(_ name: UniqueName) {
        for call in running.values where call.caller.connection == name.rawValue {
            call.end(.appCancel)
        }
    }

    /// Somebody may not sit at the machine any more, and then does not enrol a finger either.
    func presenceChanged() {
        for call in running.values where call.mustStayPresent {
            BusQueue.task {
                if await !management.isPresent(call.caller) { call.end(.systemCancel) }
            }
        }
    }

    /// The lid was opened or closed.
    func reachChanged() { management.reachChanged() }

    /// Ends everything that goes on.
    func interruptAll() {
        for call in running.values { call.end(.systemCancel) }
    }

    /// Ends everything; nothing begins any more.
    func stop() {
        isStopping = true
        interruptAll()
    }

    /// Returns when nothing is under way any more and everybody has been answered, or when the
    /// time is over.
    func waitUntilIdle(atMost limit: Duration? = nil) async {
        await endings.wait(unless: { isIdle }, atMost: limit)
    }

    var interface: BusInterface {
        var interface = BusInterface(Service.managementInterface)
        interface.serve(ListFingers.self) { arguments, call throws(BusError) in
            let fingers = try await self.run(call) { call throws(ManagementError) in
                try await self.management.list(arguments.user, for: call)
            }
            return ListFingers.Reply(fingers: fingers.map(\.wireName))
        }
        interface.serve(EnrollFinger.self) { arguments, call throws(BusError) in
            try await self.enrol(arguments, call)
            return NoValues()
        }
        interface.serve(DeleteFingers.self) { arguments, call throws(BusError) in
            let fingers = try Self.fingers(arguments.fingers)
            try await self.run(call) { call throws(ManagementError) in
                try await self.management.delete(fingers, of: arguments.user, for: call)
            }
            return NoValues()
        }
        interface.serve(EraseReader.self) { arguments, call throws(BusError) in
            try await self.run(call) { call throws(ManagementError) in
                try await self.management.erase(arguments.reader, for: call)
            }
            return NoValues()
        }
        interface.serve(ResetLockout.self) { arguments, call throws(BusError) in
            try await self.run(call) { call throws(ManagementError) in
                try await self.management.resetLockout(of: arguments.user, for: call)
            }
            return NoValues()
        }
        interface.serve(GetHistory.self) { arguments, call throws(BusError) in
            let entries = try await self.run(call) { call throws(ManagementError) in
                try await self.management.history(
                    of: arguments.user, limit: arguments.limit, for: call)
            }
            return GetHistory.Reply(entries: entries.map(\.wire))
        }
        interface.sends(EnrollProgressSignal.self)
        return interface
    }

    private func enrol(_ arguments: EnrollFinger.Arguments, _ call: BusCall) async throws(BusError)
    {
        let finger = try Self.finger(arguments.finger)
        let options = try EnrolmentOptions(arguments.options)
        let (connection, sender) = (connection, call.sender)
        try await run(call) { call throws(ManagementError) in
            try await self.management.enrol(
                finger, of: arguments.user, options, for: call
            ) { stage in
                connection.send(
                    EnrollProgressSignal.self,
                    EnrollProgressSignal.Arguments(
                        token: options.token, done: stage.done, total: stage.total,
                        cause: stage.fault?.rawValue ?? ""),
                    from: Service.path, to: sender)
            }
        }
    }

    /// Runs work that ends early when its caller leaves the bus or the machine, when the machine
    /// sleeps, or when the service stops.
    private func run<T: Sendable>(
        _ call: BusCall,
        _ work: @escaping @Sendable @BusQueue (ManagementCall) async throws(ManagementError) -> T
    ) async throws(BusError) -> T {
        let caller = try await callers.known(call.sender)
        guard !isStopping else { throw EvaluationError.systemCancel.busError }
        let call = ManagementCall(
            of: caller, interactive: call.allowsInteraction, program: callers.program(of: caller))
        let task = BusQueue.task { () -> Result<T, ManagementError> in
            do throws(ManagementError) {
                return .success(try await work(call))
            } catch {
                return .failure(error)
            }
        }
        call.begin(task)
        running[ObjectIdentifier(call)] = call
        defer { end(call) }
        switch await task.value {
        case .success(let value): return value
        case .failure(let error): throw call.told(error).busError
        }
    }

    private func end(_ call: ManagementCall) {
        running[ObjectIdentifier(call)] = nil
        // They go on after this turn, in which the answer is sent.
        if isIdle { endings.resume() }
    }

    private static func finger(_ name: String) throws(BusError) -> Finger {
        guard let finger = Finger(wireName: name) else {
            throw BusError(.invalidArgs, "there is no finger \(quoted(name))")
        }
        return finger
    }

    private static func fingers(_ names: [String]) throws(BusError) -> Set<Finger> {
        var fingers: Set<Finger> = []
        for name in names { fingers.insert(try finger(name)) }
        return fingers
    }
}

extension HistoryEntry {
    /// The entry as it crosses the bus.
    fileprivate var wire: [String: BusValue] {
        var values: [HistoryKey: BusValue] = [
            .kind: .string(kind.rawValue), .time: .uint64(time), .caller: .string(callerName),
            .callerEvidence: .string(callerEvidence?.rawValue ?? ""),
            .callerUID: .uint32(callerUser.rawValue), .outcome: .string(outcome),
        ]
        if kind == .evaluate {
            values[.reason] = .string(reason)
            values[.policy] = .uint32(policy)
            values[.method] = .string(method)
            values[.misses] = .uint32(misses)
        }
        return Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
    }
}
