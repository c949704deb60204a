// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import TestKit

private let device: InterfaceName = "net.reactivated.Fprint.Device"

/// fprintd as the distribution ships it, on a private bus, with one virtual reader; and a client
/// of it, which acts for root.
@BusQueue final class Fprintd {
    nonisolated static let program = "/usr/libexec/fprintd"

    let hand: Hand
    private let scratch: Scratch
    private let process: Child
    private let polkit: FakePolkit
    private let service: RemoteService
    private let path: ObjectPath
    private let statuses = Happenings<Status>()

    /// Starts it on a directory of prints. Unless it is given a socket, its reader has one of its
    /// own; for the prints it is the same reader as any of this kind.
    init(
        _ reader: TestService.Reader, on bus: PrivateBus, prints: String, socket: String? = nil
    ) async throws {
        scratch = try Scratch()
        let socket = socket ?? scratch.file("reader")
        hand = Hand(reader: reader, path: socket)
        polkit = try await FakePolkit(bus)
        let kinds = TestService.Reader.allCases.map(\.rawValue).joined(separator: ":")
        process = try Child(
            Self.program, ["-t"],
            environment: bus.environment.merging([
                "STATE_DIRECTORY": prints, "FP_DRIVERS_WHITELIST": kinds,
                "FP_DRIVERS_ALLOWLIST": kinds, reader.variable: socket,
            ]) { $1 }, log: scratch.file("log"))
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

    /// Enrols a finger of root's; returns what it says in the end.
    func enrol(_ finger: String, touches: Hand.Finger = .mine) async throws -> String {
        try await whileClaimed {
            _ = try await call(EnrollStart.self, Single(finger))
            var status = Status(result: "", isDone: false)
            var number: UInt64 = 0
            while !status.isDone {
                try await hand.touch(touches, number: number)
                number += 1
                guard let next = await statuses.next() else { break }
                status = next
            }
            _ = try await call(EnrollStop.self, NoValues())
            return status.result
        }
    }

    /// Has one touch compared with a finger of root's; returns what it says.
    func verify(
        _ finger: String, touch: Hand.Finger = .mine, number: UInt64
    ) async throws -> String? {
        try await whileClaimed {
            _ = try await call(VerifyStart.self, Single(finger))
            try await hand.touch(touch, number: number)
            let status = await statuses.next()
            _ = try await call(VerifyStop.self, NoValues())
            return status?.result
        }
    }

    /// The fingers of root's that it knows.
    func list() async throws -> [String] {
        try await call(ListEnrolledFingers.self, Single("")).value
    }

    /// Deletes a finger of root's.
    func delete(_ finger: String) async throws {
        try await whileClaimed { _ = try await call(DeleteEnrolledFinger.self, Single(finger)) }
    }

    private func whileClaimed<T>(_ work: () async throws -> T) async throws -> T {
        _ = try await call(Claim.self, Single(""))
        let result = try await work()
        _ = try await call(Release.self, NoValues())
        return result
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

    struct Failure: Error, CustomStringConvertible {
        let error: BusError
        let log: String
        var description: String { "\(error); fprintd's log:\n\(log)" }
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
