// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import SystemSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A call that is answered from memory` {
    private enum GetId: BusMethod {
        typealias Arguments = NoValues
        typealias Reply = Single<String>
        static let interface: InterfaceName = "org.freedesktop.DBus"
        static let member: MemberName = "GetId"
    }

    @Test func `is served in its turn, without going round through the queue`() async throws {
        try await withPair { pair in
            let order = Journal<String>()
            pair.serve {
                $0.serve(Ask.self) { arguments, _ in
                    order.add("served")
                    return arguments
                }
            }
            pair.server.onCall = { BusQueue.post { order.add("posted") } }
            for _ in 0..<3 { _ = try await pair.call(Ask.self, NoValues()) }
            await order.reaches(6)
            #expect(order.entries == ["posted", "served", "posted", "served", "posted", "served"])
        }
    }

    @Test func `takes about as long as one of the bus itself`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Echo<UInt32>.self) { arguments, _ in arguments } }
            func median(
                _ call: @BusQueue () async throws -> Void
            ) async throws -> UInt64 {
                var times: [UInt64] = []
                for _ in 0..<2_000 {
                    let before = BootClock.nanoseconds()
                    try await call()
                    times.append(BootClock.nanoseconds() - before)
                }
                return times.sorted()[times.count / 2] / 1_000
            }
            let ours = try await median { _ = try await pair.call(Echo.self, Single(UInt32(1))) }
            let theirs = try await median {
                _ = try await pair.client.call(
                    GetId.self, NoValues(), of: .bus, at: "/org/freedesktop/DBus",
                    deadline: .seconds(30))
            }
            // For information: other tests run at the same time.
            print("round trip: \(ours) us to a service of ours, \(theirs) us to the bus")
        }
    }
}
