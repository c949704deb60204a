// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit

/// Enrols a finger on one of the virtual readers, the storage reader unless told otherwise; its
/// touches carry `id`.
func enrol(
    _ finger: String = "right-index-finger", as id: String = "mine", on service: TestService,
    by client: TestClient, user: String = "", reader: VirtualReader? = nil, number: Int? = nil
) async throws {
    let options: [String: BusValue] =
        number.map { ["reader": .objectPath(Service.readerPath(UInt32($0)))] } ?? [:]
    let enrolled = Task {
        do {
            try await client.enrol(finger, user: user, options)
        } catch {
            await client.stopWaiting()
            throw error
        }
    }
    for _ in 0..<5 {
        guard await client.nextStage() != nil else { break }
        try (reader ?? service.storage).send("SCAN \(id)")
    }
    try await enrolled.value
    // The last stage's word is not waited for above.
    await client.nextStage()
}

/// A daemon with one virtual reader, and a client whose finger `mine` is enrolled on it.
func enrolled(
    on kind: TestService.Reader = .storage, configuration: String = TestService.localConfiguration
) async throws -> (service: TestService, client: TestClient) {
    let service = try await TestService(kind, configuration: configuration)
    let client = try await TestClient(service.bus)
    try await enrol(on: service, by: client, reader: service.reader(kind))
    return (service, client)
}

extension TestService {
    /// The commands' end of one of the two readers that take commands.
    func reader(_ kind: Reader) -> VirtualReader { kind == .device ? device : storage }

    /// The numbers of the readers' objects, and which readers they are.
    func readerNumbers(_ client: TestClient) async throws -> [(number: Int, kind: Reader)] {
        // Asked first, so that the readers are known.
        _ = try await client.can()
        let objects = try await client.call(GetManagedObjects.self, NoValues()).value
        return objects.compactMap { path, interfaces in
            guard
                case .string(let driver)? = interfaces[Service.readerInterface.rawValue]?["Driver"],
                let kind = Reader(rawValue: driver),
                let number = path.rawValue.split(separator: "/").last.flatMap({ Int($0) })
            else { return nil }
            return (number, kind)
        }
    }

    /// How often a text is in the daemon's log.
    func logCount(_ text: String) -> Int { log.components(separatedBy: text).count - 1 }

    /// The folder with a user's prints for the reader.
    func prints(of user: String = NSUserName(), on kind: Reader = .storage) -> String {
        "\(printDirectory)/\(user)/\(kind.rawValue)/0"
    }
}

/// Begins an evaluation.
func evaluating(
    _ client: TestClient, _ token: String = "", policy: UInt32 = 1,
    options: [String: BusValue] = [:]
) -> Task<[String: BusValue], any Error> {
    var options = options
    if !token.isEmpty { options["token"] = .string(token) }
    return Task { [options] in try await client.evaluate(policy: policy, options) }
}

/// A whole evaluation with one touch, which is that of the enrolled finger unless told otherwise.
@discardableResult
func touch(
    _ reader: VirtualReader, by client: TestClient, _ id: String = "mine"
) async throws -> [String: BusValue] {
    let evaluation = evaluating(client)
    await client.fingerIsNeeded()
    try reader.send("SCAN \(id)")
    return try await evaluation.value
}

/// Misses until an evaluation has ended, as often as wanted and allowed.
func miss(_ count: Int, on reader: VirtualReader, by client: TestClient) async throws {
    var done = 0
    while done < count {
        let evaluation = evaluating(client)
        for _ in 0..<min(3, count - done) {
            await client.fingerIsNeeded()
            try reader.send("SCAN other")
            done += 1
            if done % 3 != 0, done < 5 { await client.nextRetry() }
        }
        if done % 3 != 0, done < 5 { try await client.cancel() }
        _ = await evaluation.result
    }
}

/// The error name that a call ends with; `nil` when it succeeds.
func errorName<T>(of call: () async throws(BusError) -> T) async -> ErrorName? {
    do throws(BusError) {
        _ = try await call()
        return nil
    } catch {
        return error.name
    }
}

extension TestClient {
    /// The error name that a call of any method ends with; `nil` when it succeeds.
    func failure<M: BusMethod>(
        of method: M.Type, _ arguments: M.Arguments, at path: ObjectPath = Service.path
    ) async -> ErrorName? {
        do throws(BusError) {
            _ = try await service.call(method, arguments, at: path, deadline: .seconds(30))
            return nil
        } catch {
            return error.name
        }
    }

    /// How many misses are left until the lockout.
    func attemptsLeft() async throws -> UInt32? {
        guard case .uint32(let left)? = try await environment()["attempts-left"] else { return nil }
        return left
    }
}

extension TestClient {
    /// How policy 2 ends where no finger can serve and no agent is there: it depends on the account
    /// that runs the tests.
    func endingWithoutAgent() async throws -> (error: ServiceError, code: Int32) {
        try await environment()["password-set"] == .bool(true)
            ? (.notInteractive, -1004) : (.passcodeNotSet, -5)
    }
}

/// An account of every Linux system that is not root's.
struct OtherAccount {
    let name: String
    let uid: Int

    static let alice = Self(name: "daemon", uid: 1)
    static let bob = Self(name: "bin", uid: 2)

    /// What stands before a command line, so that it runs as this user.
    var prefix: [String] {
        ["/usr/bin/setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups"]
    }

    /// Whether processes can be started as somebody else.
    static var canBe: Bool { geteuid() == 0 }
}

/// The arguments of a `busctl` that calls the service.
func busctl(
    _ service: TestService, _ member: String, _ arguments: [String],
    interface: String = "org.example.LocalAuth", options: [String] = []
) -> [String] {
    ["/usr/bin/busctl", "--address=\(service.bus.address)", "--timeout=60"] + options
        + ["call", "org.example.LocalAuth", "/org/example/LocalAuth", interface, member]
        + arguments
}

/// Runs a command line to its end.
func run(_ line: [String], as account: OtherAccount? = nil) async throws -> ProgramResult {
    let line = (account?.prefix ?? []) + line
    return try await run(line[0], Array(line.dropFirst()))
}

/// Starts a command line.
func running(_ line: [String], as account: OtherAccount? = nil) -> Task<ProgramResult, any Error> {
    Task { try await run(line, as: account) }
}
