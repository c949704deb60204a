// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit

/// The built daemon as something that a bus starts when somebody calls, and that leaves when
/// nobody has for a second.
final class ActivatedService {
    /// Who starts it.
    enum World: String, Sendable {
        /// dbus-daemon itself.
        case daemonAlone
        /// dbus-daemon asks systemd, as on nearly every desktop.
        case daemonAndSystemd
        /// dbus-broker, which always asks systemd.
        case brokerAndSystemd

        var program: PrivateBus.Program { self == .brokerAndSystemd ? .broker : .daemon }
        var hasSystemd: Bool { self != .daemonAlone }
    }

    let bus: PrivateBus
    let systemd: FakeSystemd?
    private let scratch: Scratch

    init(_ world: World) async throws {
        scratch = try Scratch()
        let config = try scratch.write("localauthd.conf", TestService.localConfiguration)
        let script = try scratch.write(
            "start",
            """
            echo >>\(scratch.file("starts"))
            : "${DBUS_SYSTEM_BUS_ADDRESS:=$DBUS_STARTER_ADDRESS}"
            export DBUS_SYSTEM_BUS_ADDRESS
            export FP_VIRTUAL_DEVICE_STORAGE=\(scratch.file("reader"))
            export FP_DRIVERS_WHITELIST=virtual_device_storage
            exec \(productsDirectory.appending(path: "localauthd").path) --verbose --idle-exit 1 \\
              --config \(config) --state-dir \(scratch.file("state")) \\
              --print-dir \(scratch.file("prints")) 2>>\(scratch.file("log"))
            """)
        try FileManager.default.createDirectory(
            atPath: scratch.file("services"), withIntermediateDirectories: false)
        _ = try scratch.write(
            "services/org.example.LocalAuth.service",
            """
            [D-BUS Service]
            Name=org.example.LocalAuth
            Exec=/bin/sh \(script)
            User=root
            \(world.hasSystemd ? "SystemdService=localauthd.service" : "")
            """)
        let bus = try await PrivateBus(
            policy: PrivateBus.openPolicy
                + "<servicedir>\(scratch.file("services"))</servicedir>",
            program: world.program,
            arguments: world == .daemonAndSystemd ? ["--systemd-activation"] : [])
        self.bus = bus
        guard world.hasSystemd else {
            systemd = nil
            return
        }
        let notify = scratch.file("notify")
        let log = scratch.file("systemd.log")
        systemd = try await FakeSystemd(on: bus, hearing: try DatagramInbox(notify)) {
            try Child(
                "/bin/sh", [script],
                environment: bus.environment.merging(["NOTIFY_SOCKET": notify]) { $1 }, log: log)
        }
    }

    /// How often the daemon has been started.
    var starts: Int { text("starts").utf8.count }

    /// Everything that every instance has logged.
    var log: String { text("log") }

    private func text(_ name: String) -> String {
        (try? String(contentsOfFile: scratch.file(name), encoding: .utf8)) ?? ""
    }
}
