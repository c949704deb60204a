// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthModel
import PrintStorage
import SystemSupport
import TestKit
import Testing

/// A directory and a thread of one test's own; both go with it.
final class StoreFixture: Sendable {
    static let reader = kind("virtual_device", "0")
    static let alice = user("alice")

    let scratch: String
    /// The store's directory; not made here.
    let root: String
    let executor = PollExecutor(name: "store test")
    let store: PrintStore
    let lockouts: LockoutStore
    let generations: GenerationStore

    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("localauth-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        setMode(0o700, of: url.path)
        scratch = url.path
        root = scratch + "/fprint"
        let log = Log(topic: "storage")
        store = PrintStore(directory: root, executor: executor, log: log)
        lockouts = LockoutStore(directory: scratch + "/state", executor: executor, log: log)
        generations = GenerationStore(
            directory: scratch + "/state", executor: executor, log: log)
        executor.start()
    }

    deinit {
        executor.stop()
        try? FileManager.default.removeItem(atPath: scratch)
    }

    static func user(_ name: String) -> UserName {
        guard let name = UserName(name) else { preconditionFailure("not a name: \(name)") }
        return name
    }

    static func kind(_ driver: String, _ deviceID: String) -> ReaderKind {
        guard let kind = ReaderKind(driver: driver, deviceID: deviceID) else {
            preconditionFailure("not a kind: \(driver) \(deviceID)")
        }
        return kind
    }

    static func id(
        _ user: String = "alice", _ finger: Finger = .rightIndex, _ reader: ReaderKind = reader
    ) -> PrintID {
        PrintID(user: Self.user(user), reader: reader, finger: finger)
    }

    static func good(
        _ user: String = "alice", _ finger: Finger = .rightIndex
    ) -> StoredPrint {
        StoredPrint(
            id: id(user, finger),
            template: PrintBytes(user: user, finger: finger.rawValue).bytes)
    }

    func path(_ id: PrintID) -> String {
        let digit = String(id.finger.rawValue, radix: 16)
        return "\(root)/\(id.user.rawValue)/\(id.reader.driver)/\(id.reader.deviceID)/\(digit)"
    }

    /// Writes a file as another program would, with the directories it needs.
    func plant(_ bytes: [UInt8], at path: String, mode: Int = 0o644) throws {
        try makeDirectory((path as NSString).deletingLastPathComponent)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        setMode(mode, of: path)
    }

    func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? Int) ?? -1
    }

    /// Runs a shell command in the scratch directory.
    func shell(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-euc", "umask 077; cd '\(scratch)'; \(command)"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(command)")
    }

    func names(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}

extension PrintStore {
    /// Which usable prints the user has.
    func ids(of user: UserName) throws -> [PrintID] { try list(of: user).prints }
}

/// Sets the permissions of the file at `path`.
func setMode(_ mode: Int, of path: String) {
    #expect(unsafe chmod(path, mode_t(mode)) == 0)
}
