// SPDX-License-Identifier: Apache-2.0

package import DBusBinding

private let device: InterfaceName = "net.reactivated.Fprint.Device"

/// fprintd as the distribution ships it, on a private bus, with one reader; and a client of it, which
/// acts for root.
@BusQueue package final class Fprintd {
    package nonisolated static let program = "/usr/libexec/fprintd"

    private let scratch: Scratch
    private let process: Child
    private let polkit: FakePolkit
    private let service: RemoteService
    private let path: ObjectPath
    private let statuses = Happenings<Status>()
    /// How often it has said something of an enrolment or a verification.
    package var wordCount: Int { statuses.all.count }

    /// Starts it.
    /// - Parameters:
    ///   - bus: the bus.
    ///   - prints: its directory of prints.
    ///   - environment: the variables that say which readers it has.
    ///   - wrapper: a program and its arguments, in front of its own.
    /// - Throws: what kept it from starting.
    package init(
        on bus: PrivateBus, prints: String, environment: [String: String], wrapper: [String] = []
    ) async throws {
        scratch = try Scratch()
        polkit = try await FakePolkit(bus)
        let line = wrapper + [Self.program, "-t"]
        process = try Child(
            line[0], Array(line.dropFirst()),
            environment: bus.environment.merging(["STATE_DIRECTORY": prints]) { $1 }
                .merging(environment) { $1 },
            log: scratch.file("log"))
        let name: BusName = "net.reactivated.Fprint"
        try await waitForOwner(of: name, on: bus, by: process)
        service = RemoteService(name, on: try BusConnection(address: bus.address))
        await service.findOwner()
        path = try await service.call(
            GetDefaultDevice.self, NoValues(), at: "/net/reactivated/Fprint/Manager",
            deadline: .seconds(20)
        ).value
        let statuses = statuses
        service.onSignal(EnrollStatus.self) { status, _ in statuses.note(status) }
        service.onSignal(VerifyStatus.self) { status, _ in statuses.note(status) }
    }

    /// Claims the reader for root and releases it: without this nothing can be done with it.
    package func whileClaimed<T>(_ work: () async throws -> T) async throws -> T {
        _ = try await call(Claim.self, Single(""))
        let result = try await work()
        _ = try await call(Release.self, NoValues())
        return result
    }

    /// Enrols a finger of root's; returns all that it says. `touch` is called for each touch, with
    /// its number.
    package func enrol(
        _ finger: String, touch: (UInt64) async throws -> Void = { _ in }
    ) async throws -> [String] {
        _ = try await call(EnrollStart.self, Single(finger))
        let said = try await said(touch)
        _ = try await call(EnrollStop.self, NoValues())
        return said
    }

    /// Has touches compared with a finger of root's, until it has said what it is; returns all that
    /// it says.
    package func verify(
        _ finger: String, touch: (UInt64) async throws -> Void = { _ in }
    ) async throws -> [String] {
        _ = try await call(VerifyStart.self, Single(finger))
        let said = try await said(touch)
        _ = try await call(VerifyStop.self, NoValues())
        return said
    }

    private func said(_ touch: (UInt64) async throws -> Void) async throws -> [String] {
        var said: [String] = []
        while true {
            try await touch(UInt64(said.count))
            guard let status = await statuses.next() else { return said }
            said.append(status.result)
            if status.isDone { return said }
        }
    }

    /// The fingers of root's that it knows.
    package func list() async throws -> [String] {
        do {
            return try await call(ListEnrolledFingers.self, Single("")).value
        } catch let failure as Failure
            where failure.error.name == "net.reactivated.Fprint.Error.NoEnrolledPrints"
        {
            return []
        }
    }

    /// Deletes a finger of root's.
    package func delete(_ finger: String) async throws {
        _ = try await call(DeleteEnrolledFinger.self, Single(finger))
    }

    private func call<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments
    ) async throws -> M.Reply {
        do throws(BusError) {
            return try await service.call(method, arguments, at: path, deadline: .seconds(20))
        } catch {
            throw Failure(error: error, log: process.logText)
        }
    }

    package struct Failure: Error, CustomStringConvertible {
        let error: BusError
        let log: String
        package var description: String { "\(error); fprintd's log:\n\(log)" }
    }
}

/// `(s result, b done)`: how an enrolment or a verification goes on.
private struct Status: BusBody {
    static let parameters = [
        BusParameter("result", String.self), BusParameter("done", Bool.self),
    ]
    let result: String
    let isDone: Bool
    init(result: String, isDone: Bool) {
        self.result = result
        self.isDone = isDone
    }
    init(from reader: inout MessageReader) throws(DecodingFailure) {
        result = try reader.read()
        isDone = try reader.read()
    }
    func encode(to writer: inout MessageWriter) {}
}

private enum EnrollStatus: BusSignal {
    static let interface = device
    static let member: MemberName = "EnrollStatus"
    typealias Arguments = Status
}

private enum VerifyStatus: BusSignal {
    static let interface = device
    static let member: MemberName = "VerifyStatus"
    typealias Arguments = Status
}

private enum GetDefaultDevice: BusMethod {
    static let interface: InterfaceName = "net.reactivated.Fprint.Manager"
    static let member: MemberName = "GetDefaultDevice"
    typealias Arguments = NoValues
    typealias Reply = Single<ObjectPath>
}

private enum Claim: BusMethod {
    static let interface = device
    static let member: MemberName = "Claim"
    typealias Arguments = Single<String>
    typealias Reply = NoValues
}

private enum Release: BusMethod {
    static let interface = device
    static let member: MemberName = "Release"
    typealias Arguments = NoValues
    typealias Reply = NoValues
}

private enum EnrollStart: BusMethod {
    static let interface = device
    static let member: MemberName = "EnrollStart"
    typealias Arguments = Single<String>
    typealias Reply = NoValues
}

private enum EnrollStop: BusMethod {
    static let interface = device
    static let member: MemberName = "EnrollStop"
    typealias Arguments = NoValues
    typealias Reply = NoValues
}

private enum VerifyStart: BusMethod {
    static let interface = device
    static let member: MemberName = "VerifyStart"
    typealias Arguments = Single<String>
    typealias Reply = NoValues
}

private enum VerifyStop: BusMethod {
    static let interface = device
    static let member: MemberName = "VerifyStop"
    typealias Arguments = NoValues
    typealias Reply = NoValues
}

private enum ListEnrolledFingers: BusMethod {
    static let interface = device
    static let member: MemberName = "ListEnrolledFingers"
    typealias Arguments = Single<String>
    typealias Reply = Single<[String]>
}

private enum DeleteEnrolledFinger: BusMethod {
    static let interface = device
    static let member: MemberName = "DeleteEnrolledFinger"
    typealias Arguments = Single<String>
    typealias Reply = NoValues
}
