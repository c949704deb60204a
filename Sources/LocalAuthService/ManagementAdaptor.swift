// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// Serves `org.example.LocalAuth.Management`. Decodes, asks, hands over, encodes; decides nothing.
@BusQueue final class ManagementAdaptor {
    private let callers: CallerRegistry
    private let management: Management
    private let connection: BusConnection
    private var running: [UInt64: Work] = [:]
    private var last: UInt64 = 0
    private var isStopping = false
    private let endings = Waiters()

    /// Something that is under way, which can end before it is done.
    private final class Work {
        let connection: UniqueName
        /// Who has to stay at the machine for it, if anybody has.
        let seated: Caller?
        let cancel: () -> Void
        /// Why it was ended.
        var ending: EvaluationError?

        init(of connection: UniqueName, seated: Caller?, cancel: @escaping () -> Void) {
            self.connection = connection
            self.seated = seated
            self.cancel = cancel
        }

        func end(_ error: EvaluationError) {
            guard ending == nil else { return }
            ending = error
            cancel()
        }
    }

    init(callers: CallerRegistry, management: Management, on connection: BusConnection) {
        self.callers = callers
        self.management = management
        self.connection = connection
    }

    var isIdle: Bool { running.isEmpty }

    /// The connection has ended; nothing of its goes on.
    func forget(_ name: UniqueName) {
        for work in running.values where work.connection == name { work.end(.appCancel) }
    }

    /// Somebody may not sit at the machine any more, and then does not enrol a finger either.
    func presenceChanged() {
        for work in running.values {
            guard let caller = work.seated else { continue }
            BusQueue.task {
                if await !management.isPresent(caller) { work.end(.systemCancel) }
            }
        }
    }

    /// The lid was opened or closed.
    func reachChanged() { management.reachChanged() }

    /// Ends everything that goes on.
    func interruptAll() {
        for work in running.values { work.end(.systemCancel) }
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
            let caller = try await self.callers.known(call.sender)
            let fingers = try await self.run(for: call.sender) { () throws(ManagementError) in
                try await self.management.list(
                    arguments.user, for: caller, interactive: call.allowsInteraction)
            }
            return ListFingers.Reply(fingers: fingers.map(\.wireName))
        }
        interface.serve(EnrollFinger.self) { arguments, call throws(BusError) in
            try await self.enrol(arguments, call)
            return NoValues()
        }
        interface.serve(DeleteFingers.self) { arguments, call throws(BusError) in
            let fingers = try Self.fingers(arguments.fingers)
            let caller = try await self.callers.known(call.sender)
            try await self.run(for: call.sender) { () throws(ManagementError) in
                try await self.management.delete(
                    fingers, of: arguments.user, for: caller,
                    interactive: call.allowsInteraction)
            }
            return NoValues()
        }
        interface.serve(ResetLockout.self) { arguments, call throws(BusError) in
            let caller = try await self.callers.known(call.sender)
            try await self.run(for: call.sender) { () throws(ManagementError) in
                try await self.management.resetLockout(
                    of: arguments.user, for: caller, interactive: call.allowsInteraction)
            }
            return NoValues()
        }
        interface.serve(GetHistory.self) { arguments, call throws(BusError) in
            let caller = try await self.callers.known(call.sender)
            let entries = try await self.run(for: call.sender) { () throws(ManagementError) in
                try await self.management.history(
                    of: arguments.user, limit: arguments.limit, for: caller,
                    interactive: call.allowsInteraction)
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
        let caller = try await callers.known(call.sender)
        let (connection, sender) = (connection, call.sender)
        let seated = management.mustStayPresent(caller) ? caller : nil
        try await run(for: sender, seated: seated) { () throws(ManagementError) in
            try await self.management.enrol(
                finger, of: arguments.user, on: options.reader, for: caller,
                interactive: call.allowsInteraction
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

    /// Runs work that ends early when its caller leaves the bus, when a seated caller leaves the
    /// machine, or when the service stops.
    private func run<T: Sendable>(
        for connection: UniqueName, seated: Caller? = nil,
        _ body: @escaping @Sendable @BusQueue () async throws(ManagementError) -> T
    ) async throws(BusError) -> T {
        guard !isStopping else { throw EvaluationError.systemCancel.busError }
        last += 1
        let number = last
        let task = BusQueue.task { () -> Result<T, ManagementError> in
            do throws(ManagementError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        let work = Work(of: connection, seated: seated) { task.cancel() }
        running[number] = work
        defer { end(number) }
        switch await task.value {
        case .success(let value): return value
        case .failure(let error): throw work.ending?.busError ?? error.busError
        }
    }

    private func end(_ number: UInt64) {
        running[number] = nil
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

/// The options of `EnrollFinger`, checked.
private struct EnrolmentOptions {
    var token = ""
    var reader: ObjectPath?

    init(_ options: [String: BusValue]) throws(BusError) {
        for (key, value) in options.sorted(by: { $0.key < $1.key }) {
            switch (key, value) {
            case ("token", .string(let token)) where token.utf8.count <= 64: self.token = token
            case ("token", .string):
                throw BusError(.invalidArgs, "option token: at most 64 bytes")
            case ("reader", .objectPath(let path)): reader = path
            case ("token", _), ("reader", _):
                throw BusError(.invalidArgs, "option \(key): wrong type \(value.typeSignature)")
            default: throw BusError(.invalidArgs, "unknown option \(quoted(key))")
            }
        }
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
