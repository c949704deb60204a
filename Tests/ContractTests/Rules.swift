// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation

/// What a bus lets through.
enum Rules {
    /// Everything.
    case open
    /// What the system bus does (dbus's `system.conf`), without our policy.
    case system
    /// The same, with our policy.
    case shipped

    private static let systemPolicy = """
        <policy context="default">
          <allow user="*"/>
          <deny own="*"/>
          <deny send_type="method_call"/>
          <allow send_type="signal"/>
          <allow send_requested_reply="true" send_type="method_return"/>
          <allow send_requested_reply="true" send_type="error"/>
          <allow receive_type="method_call"/>
          <allow receive_type="method_return"/>
          <allow receive_type="error"/>
          <allow receive_type="signal"/>
          <allow send_destination="org.freedesktop.DBus"
                 send_interface="org.freedesktop.DBus"/>
        </policy>
        """

    /// The rules as a bus's configuration has them.
    var policy: String {
        switch self {
        case .open: PrivateBus.openPolicy
        case .system: Self.systemPolicy
        case .shipped:
            Self.systemPolicy
                + "<include>\(Repository.file("dbus/org.example.LocalAuth.conf").path)</include>"
        }
    }
}

extension PrivateBus {
    /// Starts a bus with these rules.
    convenience init(_ rules: Rules) async throws { try await self.init(policy: rules.policy) }
}

/// How a program ended, and everything it said.
struct Ended: Sendable {
    let status: Int32
    let output: String
}

/// Runs a program to its end, for at most 20 seconds.
func run(_ command: String...) async throws -> Ended { try await run(command) }

func run(_ command: [String]) async throws -> Ended {
    let result = try await BusTestKit.run("/usr/bin/timeout", ["--signal=KILL", "20"] + command)
    return Ended(status: result.status, output: result.output + result.errors)
}
