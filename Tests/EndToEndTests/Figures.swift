// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit
import Testing

/// What the daemon takes of the system and of the bus.
struct Figures: CustomStringConvertible {
    let descriptors: Int
    let threads: Int
    let residentKiB: Int
    let children: Int
    let matchRules: UInt32

    /// What an allocator may keep of work that is done.
    static let allocatorKiB = 4_096

    /// Takes them when nothing is under way: the reader is closed and the history written.
    init(of service: TestService, by client: TestClient) async throws {
        try await service.storage.waitUntilClosed()
        _ = try await client.call(GetHistory.self, GetHistory.Arguments(user: "", limit: 1))
        let process = DaemonProcess(service.daemon.processID)
        descriptors = try process.lastingDescriptors()
        threads = try process.lastingThreads().count
        residentKiB = try process.residentKiB()
        children = try process.children()
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
        than before: Figures, residentKiB growth: Int = allocatorKiB,
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
