// SPDX-License-Identifier: Apache-2.0

import BusTestKit

/// Somebody who is not root, by number, with or without an account.
struct OtherUser: Sendable {
    let id: UInt32
    let bus: PrivateBus

    init(_ id: UInt32 = OtherUser.nobody, on bus: PrivateBus) {
        self.id = id
        self.bus = bus
    }

    /// The account that every system has besides root.
    static let nobody: UInt32 = 65_534

    /// What the service answers to a call: gdbus's words, which name the error of one that fails.
    func call(_ method: String, _ arguments: String...) async throws -> String {
        let result = try await run(
            "/usr/bin/setpriv",
            asUser + [
                "/usr/bin/gdbus", "call", "--address", bus.address, "--timeout", "60", "--dest",
                "org.example.LocalAuth", "--object-path", "/org/example/LocalAuth", "--method",
                "org.example.LocalAuth.\(method)",
            ] + arguments)
        return result.output + result.errors
    }

    func canEvaluate() async throws -> String { try await call("CanEvaluatePolicy", "1") }

    func evaluate() async throws -> String {
        try await call("EvaluatePolicy", "1", "open the safe", "{}")
    }

    /// `EvaluatePolicy` by busctl, which can say whether the user may be
    /// asked things.
    func evaluateWithBusctl(interactive: Bool) async throws -> ProgramResult {
        try await run(
            "/usr/bin/setpriv",
            asUser + [
                "/usr/bin/busctl", "--address=\(bus.address)", "--timeout=60",
                "--allow-interactive-authorization=\(interactive ? "yes" : "no")", "call",
                "org.example.LocalAuth", "/org/example/LocalAuth", "org.example.LocalAuth",
                "EvaluatePolicy", "usa{sv}", "1", "open the safe", "0",
            ])
    }

    private var asUser: [String] {
        ["--reuid", "\(id)", "--regid", "\(id)", "--clear-groups", "--"]
    }
}
