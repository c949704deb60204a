// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// What the daemon takes of the system and of the bus.
struct Figures: CustomStringConvertible {
    let descriptors: Int
    /// Without those that look things up, of which there are more for as long as they are needed.
    let threads: Int
    let residentKiB: Int
    let children: Int
    let matchRules: UInt32

    /// Takes them when nothing is under way: the reader is closed and the history written.
    init(of service: TestService, by client: TestClient) async throws {
        try await service.storage.waitUntilClosed()
        _ = try await client.call(GetHistory.self, GetHistory.Arguments(user: "", limit: 1))
        let folder = "/proc/\(service.daemon.processID)"
        descriptors = try FileManager.default.contentsOfDirectory(atPath: folder + "/fd").count
        threads = try FileManager.default.contentsOfDirectory(atPath: folder + "/task").count {
            let name = try? String(contentsOfFile: "\(folder)/task/\($0)/comm", encoding: .utf8)
            return name != "lookup\n"
        }
        let status = try String(contentsOfFile: folder + "/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        residentKiB =
            line.flatMap { $0.split(separator: " ").dropFirst().first }
            .flatMap { Int($0) } ?? 0
        let list = try String(
            contentsOfFile: "\(folder)/task/\(service.daemon.processID)/children", encoding: .utf8)
        children = list.split(separator: " ").count
        let owner = try #require(await client.service.owner)
        let statistics = try await client.connection.call(
            GetConnectionStats.self, Single(owner.rawValue), of: .bus,
            at: "/org/freedesktop/DBus", deadline: .seconds(10)
        ).value
        guard case .uint32(let rules)? = statistics["MatchRules"] else {
            throw BusError(.failed, "the bus tells no number of match rules")
        }
        matchRules = rules
    }

    /// Nothing has grown but for what an allocator keeps.
    func expectNoMore(
        than before: Figures, residentKiB growth: Int = 4_096,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(abs(descriptors - before.descriptors) <= 1, sourceLocation: sourceLocation)
        #expect(threads <= before.threads, sourceLocation: sourceLocation)
        #expect(children == 0, sourceLocation: sourceLocation)
        #expect(matchRules == before.matchRules, sourceLocation: sourceLocation)
        #expect(residentKiB - before.residentKiB < growth, sourceLocation: sourceLocation)
    }

    var description: String {
        "\(descriptors) descriptors, \(threads) threads, \(residentKiB) KiB, \(matchRules) match"
            + " rules, \(children) children"
    }
}

/// What the reference bus tells about a connection, for those who debug.
private enum GetConnectionStats: BusMethod {
    static let interface: InterfaceName = "org.freedesktop.DBus.Debug.Stats"
    static let member: MemberName = "GetConnectionStats"
    typealias Arguments = Single<String>
    typealias Reply = Single<[String: BusValue]>
}
