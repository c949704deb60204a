// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import Foundation
import FoundationXML
import LocalAuthContract
import LocalAuthService
import SystemSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The installed files` {
    private static let unit = "dbus/localauthd.service"
    private static let hasAnalyzer = FileManager.default.isExecutableFile(
        atPath: "/usr/bin/systemd-analyze")

    @Test func `are well-formed XML, all that should be`() throws {
        let paths =
            try Repository.files(in: "dbus", ending: ".xml")
            + Repository.files(in: "dbus", ending: ".conf")
            + Repository.files(in: "policy", ending: ".policy")
        #expect(paths.count == 7)
        for path in paths { #expect(throws: Never.self, "\(path)") { try Repository.xml(path) } }
    }

    @Test(arguments: ["dbus", "policy"])
    func `begin with their license`(folder: String) throws {
        for path in try Repository.files(in: folder, ending: "") {
            let top = try Repository.text(path).split(separator: "\n").prefix(2)
            #expect(
                top.contains { $0.contains("SPDX-License-Identifier: Apache-2.0") }, "\(path)")
        }
    }

    @Test func `name the same service and program`() throws {
        let unit = try UnitFile(Self.unit)
        let activation = try UnitFile("dbus/\(Service.name.rawValue).service")
        // With `dbus` the daemon would be ended when it gives its name back.
        #expect(unit["Service/Type"] == ["notify"])
        #expect(unit["Service/NotifyAccess"] == ["main"])
        #expect(unit["Service/BusName"] == [Service.name.rawValue])
        #expect(activation["D-BUS Service/Name"] == [Service.name.rawValue])
        #expect(unit["Service/ExecStart"] == ["/usr/libexec/localauthd"])
        #expect(activation["D-BUS Service/Exec"] == unit["Service/ExecStart"])
        #expect(activation["D-BUS Service/SystemdService"] == ["localauthd.service"])
        #expect(activation["D-BUS Service/User"] == ["root"])
        let policy = try Repository.xml("dbus/\(Service.name.rawValue).conf").all
        let names = policy.flatMap { [$0["own"], $0["send_destination"]] }.compactMap(\.self)
        #expect(Set(names) == [Service.name.rawValue])
    }

    @Test func `keep libfprint's switches for tests out of the daemon`() throws {
        let unset = try UnitFile(Self.unit)["Service/UnsetEnvironment"]
            .flatMap { $0.split(separator: " ").map(String.init) }
        #expect(
            Set(unset) == [
                "FP_VIRTUAL_DEVICE", "FP_VIRTUAL_DEVICE_STORAGE",
                "FP_VIRTUAL_DEVICE_STORAGE_NO_LIST", "FP_VIRTUAL_IMAGE", "FP_DEVICE_EMULATION",
                "FP_DRIVERS_WHITELIST", "FP_DRIVERS_ALLOWLIST", "G_DEBUG",
            ])
    }

    @Test func `let libfprint write what it must, and crash`() throws {
        let unit = try UnitFile(Self.unit)
        #expect(unit["Service/ReadWritePaths"].contains("/sys/devices"))
        #expect(unit["Service/Restart"] == ["on-failure"])
    }

    @Test func `tell administrators every event's id, and no other`() throws {
        let words = try Repository.text("docs/journal.md").split { !$0.isHexDigit }
        let ids = words.filter { $0.utf8.count == 32 }.map(String.init)
        #expect(Set(ids) == Set(MessageID.events.map(\.rawValue)))
        #expect(Set(MessageID.events).count == 5)
    }

    @Test func `give the daemon no privilege, and a look at who asks`() throws {
        let unit = try UnitFile(Self.unit)
        #expect(unit["Service/CapabilityBoundingSet"] == [""])
        #expect(unit["Service/AmbientCapabilities"] == [])
        #expect(unit["Service/ProtectProc"] == ["default"])
        #expect(unit["Service/ProcSubset"] == [])
    }

    @Test func `let pam_faillock count where everybody does, for good`() throws {
        let unit = try UnitFile(Self.unit)
        #expect(unit["Service/ProtectSystem"] == ["strict"])
        #expect(unit["Service/RuntimeDirectory"] == ["faillock"])
        #expect(unit["Service/RuntimeDirectoryMode"] == ["0755"])
        #expect(unit["Service/RuntimeDirectoryPreserve"] == ["yes"])
    }

    @Test func `ask for the password only`() throws {
        let lines = try Repository.text("policy/localauth.pam").split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
        let modules = lines.flatMap { $0.matches(of: /pam_\w+\.so/).map { String($0.output) } }
        #expect(Set(modules) == ["pam_unix.so", "pam_sss.so", "pam_deny.so"])
        let words = lines.flatMap { $0.split(separator: " ") }
        #expect(!words.contains { $0.contains("include") || $0 == "substack" || $0 == "nullok" })
        #expect(words.contains("auth") && words.contains("account"))
    }

    /// Runs `systemd-analyze` on a copy of the unit that starts the program that was built here.
    private func analyze(_ arguments: String...) async throws -> Ended {
        let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "localauthd").path
        #expect(FileManager.default.isExecutableFile(atPath: built))
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "contract-unit-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let copy = directory.appending(path: "localauthd.service")
        try Repository.text(Self.unit)
            .replacing("ExecStart=/usr/libexec/localauthd", with: "ExecStart=\(built)")
            .write(to: copy, atomically: true, encoding: .utf8)
        return try await run(["systemd-analyze"] + arguments + [copy.path])
    }

    @Test(.enabled(if: hasAnalyzer, "systemd-analyze is missing"))
    func `hold a unit that systemd understands`() async throws {
        let result = try await analyze("verify", "--man=no")
        // What it does not understand it tells, and still ends with 0.
        #expect(result.status == 0 && result.output.isEmpty, "\(result.output)")
    }

    @Test(.enabled(if: hasAnalyzer, "systemd-analyze is missing"))
    func `hold a unit that is confined`() async throws {
        // In tenths; systemd calls up to 2.0 "OK".
        let result = try await analyze("security", "--offline=true", "--threshold=20")
        #expect(result.status == 0, "\(result.output)")
    }
}
