// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthModel
import Testing

@testable import SystemAuthorities

@Suite(.timeLimit(.minutes(1))) struct `A caller's program` {
    private static func sandbox(_ name: String) -> CallerProgram {
        CallerProgram(name: name, evidence: .sandbox)
    }

    // MARK: Control groups

    private static let app = "/user.slice/user-1000.slice/user@1000.service/app.slice/"

    @Test(arguments: [
        ("0::\(app)app-flatpak-org.gnome.Boxes-12345.scope", "org.gnome.Boxes"),
        ("0::\(app)app-flatpak-org.gnome.Boxes-12345.scope/inner", "org.gnome.Boxes"),
        (#"0::\#(app)app-flatpak-com.example.my\x2dapp-7.scope"#, "com.example.my-app"),
        ("0::\(app)app-flatpak-com.example.my-app-7.scope", "com.example.my-app"),
        ("12:pids:/x\n1:name=systemd:\(app)app-flatpak-a.b.C-1.scope\n0::/", "a.b.C"),
        ("0::\(app)snap.firefox.firefox-6ac1f2.scope", "firefox"),
        ("0::\(app)snap.hello-world.sh.6ac1f2.scope", "hello-world"),
        ("0::/system.slice/snap.cups_one.cupsd.service", "cups_one"),
        // What is further in was made by what is in it.
        ("0::\(app)app-flatpak-a.b.C-1.scope/app-flatpak-d.e.F-2.scope", "a.b.C"),
    ])
    func `is named by its sandbox's control group`(text: String, name: String) {
        #expect(ProgramEvidence.sandbox(cgroup: text) == Self.sandbox(name))
    }

    @Test(arguments: [
        "", "\n", "0::", "0::/", "::", "0:/x", "0::\(app)app-gnome-org.gnome.Boxes-1.scope",
        "0::\(app)app-flatpak-.scope", "0::\(app)app-flatpak--1.scope",
        "0::\(app)app-flatpak-1.scope",
        "0::\(app)app-flatpak-a.b-.scope", "0::\(app)app-flatpak-a.b-x.scope",
        "0::\(app)app-flatpak-a.b-1.service", "0::\(app)app-flatpak-plain-1.scope",
        #"0::\#(app)app-flatpak-a.b\x0aforged-1.scope"#, #"0::\#(app)app-flatpak-a.b\x-1.scope"#,
        #"0::\#(app)app-flatpak-a.b\xe2\x80\xae-1.scope"#,
        #"0::\#(app)app-flatpak-a.b\xff-1.scope"#,
        #"0::\#(app)app-flatpak-a.b\n-1.scope"#, #"0::\#(app)app-flatpak-a.b\"#,
        "0::\(app)app-flatpak-a.b c-1.scope", "0::\(app)app-flatpak-a.b\u{202e}-1.scope",
        "0::\(app)app-flatpak-\(String(repeating: "a.", count: 200))b-1.scope",
        "0::\(app)snap.firefox.scope", "0::\(app)snap..app.scope",
        "0::\(app)snap.fire fox.app.scope",
        "0::\(app)snap.firefox.firefox", "5:devices:\(app)app-flatpak-a.b.C-1.scope",
        "0::\(app)xapp-flatpak-a.b-1.scope", "app-flatpak-a.b-1.scope",
    ])
    func `is in no sandbox by anything else`(text: String) {
        #expect(ProgramEvidence.sandbox(cgroup: text) == nil)
    }

    // MARK: Labels

    @Test(
        arguments: [
            ("/usr/bin/evince (enforce)", "/usr/bin/evince", .label),
            ("safe (complain)", "safe", .label),
            ("a//&b (enforce)", "a//&b", .label),
            ("snap.firefox.firefox (enforce)", "firefox", .sandbox),
            ("snap.firefox.firefox (complain)", "snap.firefox.firefox", .label),
            (
                "system_u:system_r:cupsd_t:s0-s0:c0.c1023",
                "system_u:system_r:cupsd_t:s0-s0:c0.c1023", .label
            ),
            ("App1", "App1", .label),
        ] as [(String, String, CallerProgram.Evidence)])
    func `is named by a label of its own`(
        label: String, name: String, evidence: CallerProgram.Evidence
    ) {
        #expect(
            ProgramEvidence.program(label: label) == CallerProgram(name: name, evidence: evidence))
    }

    @Test(arguments: [
        "unconfined", "chrome (unconfined)", "unconfined (enforce)", "_", "", " (enforce)",
        "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023", "staff_u:staff_r:staff_t:s0",
        "\u{200b} (enforce)",
    ])
    func `is not named by everybody's label`(label: String) {
        #expect(ProgramEvidence.program(label: label) == nil)
    }

    @Test func `has a name on one harmless line`() {
        let evil = "evil\u{1b}[2J\n\u{202e}gnp.exe\u{2028}\u{0}x"
        #expect(ProgramEvidence.program(evil, .unverified)?.name == "evil[2Jgnp.exex")
        let long = ProgramEvidence.program(String(repeating: "\u{e9}", count: 5_000), .unverified)
        #expect(long?.name.utf8.count == 256)
        #expect(ProgramEvidence.program("\u{202e}\n ", .unverified) == nil)
    }

    // MARK: Processes

    @BusQueue private final class Scene {
        let bus: PrivateBus
        let connection: BusConnection
        let peer: BusConnection
        let scratch: Scratch
        let programs: CallerPrograms
        let real: CallerPrograms

        init(_ bus: PrivateBus) throws {
            self.bus = bus
            connection = try BusConnection(address: bus.address)
            peer = try BusConnection(address: bus.address)
            scratch = try Scratch()
            let threads = LookupThreads()
            programs = CallerPrograms(on: connection, threads: threads, root: scratch.path)
            real = CallerPrograms(on: connection, threads: threads)
        }

        /// Makes up a process.
        func process(
            _ id: UInt32, cgroup: String? = "0::/\n", exe: String? = nil, comm: Data? = nil
        ) throws {
            let folder = scratch.file("\(id)")
            let files = FileManager.default
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            if let cgroup { _ = try scratch.write("\(id)/cgroup", cgroup) }
            if let exe {
                try files.createSymbolicLink(atPath: folder + "/exe", withDestinationPath: exe)
            }
            if let comm { try comm.write(to: URL(filePath: folder + "/comm")) }
        }

        func program(
            _ id: UInt32, label: String? = nil, handle: (any ProcessHandle)? = nil
        ) async -> CallerProgram? {
            await programs.program(
                of: caller(
                    peer.uniqueName, process: CallerProcess(id: id, label: label, handle: handle)))
        }
    }

    private static func with(
        _ body: @escaping @Sendable @BusQueue (Scene) async throws -> Void
    ) async throws {
        let scene = try await Scene(try await PrivateBus())
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(scene))
        } catch {
            result = .failure(error)
        }
        await scene.connection.close()
        await scene.peer.close()
        try result.get()
    }

    @Test func `is known by the best evidence there is`() async throws {
        try await Self.with { scene in
            let flatpak = "0::\(Self.app)app-flatpak-org.gnome.Boxes-1.scope\n"
            try scene.process(
                1, cgroup: flatpak, exe: "/usr/bin/xdg-dbus-proxy", comm: Data("proxy\n".utf8))
            try scene.process(2, exe: "/usr/bin/safe", comm: Data("safe\n".utf8))
            try scene.process(3, comm: Data("safe\n".utf8))
            try scene.process(4, exe: "/opt/gone (deleted)")
            try scene.process(5, cgroup: nil)
            #expect(await scene.program(1, label: "x (enforce)") == Self.sandbox("org.gnome.Boxes"))
            #expect(
                await scene.program(2, label: "x (enforce)")
                    == CallerProgram(name: "x", evidence: .label))
            let unverified: [(UInt32, String)] = [
                (2, "/usr/bin/safe"), (3, "safe"), (4, "/opt/gone (deleted)"),
            ]
            for (id, name) in unverified {
                #expect(
                    await scene.program(id, label: "unconfined")
                        == CallerProgram(name: name, evidence: .unverified))
            }
            for id in [5, 6] as [UInt32] { #expect(await scene.program(id) == nil) }
        }
    }

    @Test func `behind a proxy that no sandbox runs is the proxy`() async throws {
        try await Self.with { scene in
            try scene.process(1, comm: Data("xdg-dbus-proxy\n".utf8))
            #expect(
                await scene.program(1)
                    == CallerProgram(name: "xdg-dbus-proxy", evidence: .unverified))
        }
    }

    @Test func `with files of any content and size is harmless`() async throws {
        try await Self.with { scene in
            let line = "0::\(Self.app)app-flatpak-a.b.C-1.scope\n"
            try scene.process(
                1, cgroup: String(repeating: line, count: 10_000),
                comm: Data(repeating: 0x61, count: 1 << 20))
            try scene.process(2, comm: Data([0xff, 0xfe]))
            try scene.process(3, exe: "/tmp/\n\u{202e}evil", comm: Data("\n".utf8))
            #expect(await scene.program(1) == nil)
            #expect(await scene.program(2) == nil)
            #expect(
                await scene.program(3) == CallerProgram(name: "/tmp/evil", evidence: .unverified))
        }
    }

    @Test func `is unknown when the process or the caller has gone meanwhile`() async throws {
        try await Self.with { scene in
            try scene.process(1, comm: Data("safe\n".utf8))
            let process = FakeProcess()
            #expect(await scene.program(1, handle: process)?.name == "safe")
            #expect(await scene.program(1, handle: FakeProcess(looks: 1)) == nil)
            process.end()
            #expect(await scene.program(1, handle: process) == nil)
            let gone = Journal<UniqueName>()
            scene.connection.watchPeers { gone.add($0) }
            #expect(await scene.program(1)?.name == "safe")
            scene.peer.close()
            await gone.reaches(1)
            #expect(await scene.program(1) == nil)
        }
    }

    @Test func `is found of a process that runs`() async throws {
        try await Self.with { scene in
            let input = Pipe()
            let child = try Child(
                "/bin/cat", [], log: scene.scratch.file("log"), input: input)
            let me = caller(
                scene.peer.uniqueName,
                process: CallerProcess(id: UInt32(bitPattern: child.processID)))
            let path = URL(filePath: "/bin/cat").resolvingSymlinksInPath().path
            #expect(
                await scene.real.program(of: me)
                    == CallerProgram(name: path, evidence: .unverified))
            try input.fileHandleForWriting.close()
            await child.wait()
            #expect(await scene.real.program(of: me) == nil)
        }
    }
}
