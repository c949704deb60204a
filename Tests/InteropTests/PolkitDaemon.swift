// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation

/// The real polkitd on a private bus, which knows this package's actions, and no rules but a
/// test's own. To be started as root; it goes on as its own user.
@BusQueue final class PolkitDaemon {
    nonisolated static let program = "/usr/lib/polkit-1/polkitd"

    let process: Child
    private let scratch: Scratch
    private let service: RemoteService
    private let changes = Happenings<Void>()

    init(on bus: PrivateBus) async throws {
        scratch = try Scratch()
        let actions = scratch.file("actions")
        let rules = scratch.file("rules.d")
        for folder in [actions, rules] {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false)
        }
        _ = try scratch.write("actions/org.example.localauth.policy", try Self.policy)
        // Both folders are put in the place of the system's, for this process alone. What the
        // administrator of this machine has set is not to matter either.
        let script = """
            mount --bind "$1" /usr/share/polkit-1/actions &&
            mount --bind "$2" /usr/share/polkit-1/rules.d &&
            mount --bind "$2" /etc/polkit-1/rules.d &&
            exec \(Self.program) --no-debug
            """
        process = try Child(
            "/usr/bin/unshare", ["--mount", "/bin/sh", "-c", script, "sh", actions, rules],
            environment: bus.environment, log: scratch.file("log"))
        try await waitForOwner(of: FakePolkit.name, on: bus, by: process)
        service = RemoteService(FakePolkit.name, on: try BusConnection(address: bus.address))
        await service.findOwner()
        let changes = changes
        service.onSignal(Changed.self) { _, _ in changes.note(()) }
    }

    /// Adds a rule that says yes to a user, and waits until polkitd has taken it up.
    func allow(_ user: String, _ action: String) async throws {
        _ = try scratch.write(
            "rules.d/10-test.rules",
            """
            polkit.addRule(function(action, subject) {
                if (action.id == "\(action)" && subject.user == "\(user)") {
                    return polkit.Result.YES;
                }
            });
            """)
        await changes.next()
    }

    /// Ends it as a crash would.
    func kill() async {
        process.signal(SIGKILL)
        await process.wait()
    }

    /// The package's own actions.
    private nonisolated static var policy: String {
        get throws {
            try String(
                contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                    .appending(path: "../../policy/org.example.localauth.policy"),
                encoding: .utf8)
        }
    }
}

private enum Changed: BusSignal {
    static let interface: InterfaceName = "org.freedesktop.PolicyKit1.Authority"
    static let member: MemberName = "Changed"
    typealias Arguments = NoValues
}
