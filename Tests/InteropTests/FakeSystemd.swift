// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import TestKit

@testable import DBusBinding

// systemd's D-Bus interface: org.freedesktop.systemd1(5); what dbus-daemon sends to it:
// "org.freedesktop.systemd1.Activator" in dbus-daemon's source (bus/activation.c).

private let manager: InterfaceName = "org.freedesktop.systemd1.Manager"
private let managerPath: ObjectPath = "/org/freedesktop/systemd1"

/// As much of systemd as a bus needs to have one service of `Type=notify` started: it starts a unit
/// that is inactive, takes one that runs for started, and keeps a request to start one that says it
/// stops until it has stopped.
@BusQueue final class FakeSystemd {
    nonisolated static let name: BusName = "org.freedesktop.systemd1"

    /// What became of each request to start the service.
    enum Outcome: Hashable, Sendable { case started, ranAlready, startedAfterStop }

    private enum State { case inactive, starting, running, stopping }

    let outcomes = Journal<Outcome>()
    private let launch: @Sendable () throws -> Child
    private let connection: BusConnection
    private let inbox: DatagramInbox
    private var service: Child?
    /// Counts what the service says about its stopping.
    private var stops = 0
    private var state = State.inactive
    private var isStartWanted = false
    private var jobs: [ObjectPath] = []
    private var lastJob: UInt32 = 0

    /// `launch` starts the daemon, which tells `inbox` how it is.
    init(
        on bus: PrivateBus, hearing inbox: DatagramInbox,
        launch: @escaping @Sendable () throws -> Child
    ) async throws {
        self.launch = launch
        self.inbox = inbox
        connection = try BusConnection(address: bus.address)
        connection.export(BusObject(managerPath, [interface]))
        connection.handle(
            ActivationRequest.self, from: { $0.senderText == "org.freedesktop.DBus" }
        ) { [weak self] unit, _ in
            self?.start()
        }
        guard try await connection.requestName(Self.name) else {
            throw BusError(.failed, "somebody else is systemd")
        }
        BusQueue.task { [weak self] in
            for await datagram in inbox.datagrams { self?.hear(datagram.text) }
        }
    }

    func close() {
        inbox.stop()
        connection.close()
    }

    private var interface: BusInterface {
        var interface = BusInterface(manager)
        interface.serve(Subscribe.self) { _, _ throws(BusError) in NoValues() }
        interface.serve(LoadUnit.self) { _, _ throws(BusError) in
            Single(ObjectPath(stringLiteral: "/org/freedesktop/systemd1/unit/localauthd"))
        }
        interface.serve(StartUnit.self) { [weak self] _, _ throws(BusError) in
            guard let self else { throw BusError(.failed, "the test is over") }
            return Single(start())
        }
        interface.sends(JobRemoved.self)
        return interface
    }

    /// Wants the service to run; the path of the job that sees to it.
    @discardableResult
    private func start() -> ObjectPath {
        lastJob += 1
        let job = ObjectPath("/org/freedesktop/systemd1/job/\(lastJob)") ?? managerPath
        jobs.append(job)
        switch state {
        case .inactive:
            outcomes.add(.started)
            run()
        case .starting: break
        case .running:
            outcomes.add(.ranAlready)
            // After the reply with the job's path.
            BusQueue.post { [self] in endJobs() }
        case .stopping: isStartWanted = true
        }
        return job
    }

    private func run() {
        guard let child = try? launch() else { return }
        state = .starting
        service = child
        BusQueue.task { [weak self] in
            await child.wait()
            self?.serviceEnded()
        }
    }

    private func hear(_ text: String) {
        switch text {
        case "READY=1" where state == .starting:
            state = .running
            endJobs()
        case "STOPPING=1":
            state = .stopping
            endUnlessStopped(after: .seconds(5))
        case _ where text.hasPrefix("EXTEND_TIMEOUT_USEC="):
            endUnlessStopped(after: .seconds(10))
        default: break
        }
    }

    /// As `TimeoutStopSec=5` of the unit's.
    private func endUnlessStopped(after delay: Duration) {
        stops += 1
        let (number, child) = (stops, service)
        BusQueue.task { [weak self] in
            await BusQueue.sleep(delay)
            if self?.stops == number { child?.signal(SIGKILL) }
        }
    }

    private func serviceEnded() {
        state = .inactive
        stops += 1
        guard isStartWanted else { return }
        isStartWanted = false
        outcomes.add(.startedAfterStop)
        run()
    }

    private func endJobs() {
        for job in jobs {
            connection.send(
                JobRemoved.self,
                JobRemoved.Arguments(number: 0, job: job, unit: "localauthd.service"),
                from: managerPath)
        }
        jobs = []
    }
}

private enum ActivationRequest: BusSignal {
    static let interface: InterfaceName = "org.freedesktop.systemd1.Activator"
    static let member: MemberName = "ActivationRequest"
    typealias Arguments = Single<String>
}

private enum Subscribe: BusMethod {
    static let interface = manager
    static let member: MemberName = "Subscribe"
    typealias Arguments = NoValues
    typealias Reply = NoValues
}

private enum LoadUnit: BusMethod {
    static let interface = manager
    static let member: MemberName = "LoadUnit"
    typealias Arguments = Single<String>
    typealias Reply = Single<ObjectPath>
}

private enum StartUnit: BusMethod {
    static let interface = manager
    static let member: MemberName = "StartUnit"
    struct Arguments: BusBody {
        static let parameters = [
            BusParameter("name", String.self), BusParameter("mode", String.self),
        ]
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            _ = try reader.read(String.self)
            _ = try reader.read(String.self)
        }
        func encode(to writer: inout MessageWriter) {}
    }
    typealias Reply = Single<ObjectPath>
}

private enum JobRemoved: BusSignal {
    static let interface = manager
    static let member: MemberName = "JobRemoved"
    struct Arguments: BusBody {
        static let parameters = [
            BusParameter("id", UInt32.self), BusParameter("job", ObjectPath.self),
            BusParameter("unit", String.self), BusParameter("result", String.self),
        ]
        let number: UInt32
        let job: ObjectPath
        let unit: String
        init(number: UInt32, job: ObjectPath, unit: String) {
            (self.number, self.job, self.unit) = (number, job, unit)
        }
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            (number, job) = (try reader.read(), try reader.read())
            unit = try reader.read()
            _ = try reader.read(String.self)
        }
        func encode(to writer: inout MessageWriter) {
            writer.write(number)
            writer.write(job)
            writer.write(unit)
            writer.write("done")
        }
    }
}
