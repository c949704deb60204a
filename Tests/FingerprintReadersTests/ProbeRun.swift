// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import Synchronization
import TestKit
import Testing

/// One run of `reader-probe` with virtual readers of its own.
///
/// Any critical of GLib's ends the probe, and with it the test, where nothing else is said.
final class ProbeRun {
    struct Ended: Error, CustomStringConvertible {
        let awaited: String
        let seen: [String]
        let log: String
        var description: String { "ended before \"\(awaited)\"; seen: \(seen); log:\n\(log)" }
    }

    let device: VirtualReader
    let storage: VirtualReader
    /// Every line so far.
    private(set) var seen: [String] = []
    private var unclaimed: [String] = []
    private var lines: AsyncStream<String>.Iterator
    private let process = Process()
    /// Ends when the process has.
    private let exit: AsyncStream<Never>
    private let input = Pipe()
    private let directory: URL
    private let log: URL

    /// Starts the probe, and the readers in it.
    ///
    /// - Parameters:
    ///   - drivers: the virtual readers that it has.
    ///   - criticalsAreFatal: whether a critical ends the probe; if not, look at `criticals`.
    /// - Throws: what kept the probe from starting.
    convenience init(
        _ drivers: VirtualReader.Driver..., criticalsAreFatal: Bool = true
    ) async throws {
        let names = VirtualReader.Driver.allCases.map(\.rawValue).joined(separator: ":")
        try await self.init(
            kinds: names, virtual: drivers, wrapper: [], criticalsAreFatal: criticalsAreFatal)
    }

    /// Starts the probe with a recorded reader.
    /// - Parameters:
    ///   - recorded: the recording's name.
    ///   - driver: its driver.
    ///   - wrapper: what stands before the probe's command line.
    /// - Throws: what kept the probe from starting.
    convenience init(recorded: String, driver: String? = nil, wrapper: [String]? = nil) async throws
    {
        try await self.init(
            kinds: driver ?? recorded, virtual: [],
            wrapper: wrapper ?? Recordings.wrapper(recorded))
    }

    /// Starts the probe on a machine whose reader can be plugged in and out.
    ///
    /// - Parameters:
    ///   - pluggable: the reader, which is not there at first.
    ///   - variables: variables for the probe, such as `NAME=value`.
    /// - Throws: what kept the probe from starting.
    convenience init(pluggable: PluggableReader, variables: [String] = []) async throws {
        let outer = pluggable.environment.map { "\($0.key)=\($0.value)" }
        try await self.init(
            kinds: pluggable.driver, virtual: [],
            wrapper: ["/usr/bin/env"] + outer + pluggable.wrapper + ["/usr/bin/env"] + variables)
    }

    private init(
        kinds: String, virtual: [VirtualReader.Driver], wrapper: [String],
        criticalsAreFatal: Bool = true
    ) async throws {
        directory = FileManager.default.temporaryDirectory
            .appending(path: "reader-probe-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        log = directory.appending(path: "log")
        device = VirtualReader(path: directory.appending(path: "device").path)
        storage = VirtualReader(path: directory.appending(path: "storage").path)

        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("FP_") }
        environment["FP_DRIVERS_WHITELIST"] = kinds
        environment["FP_DRIVERS_ALLOWLIST"] = kinds
        for driver in virtual {
            environment[driver.variable] = driver == .device ? device.path : storage.path
        }
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)

        let output = Pipe()
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "reader-probe").path
        // For the probe alone: umockdev has criticals of its own when a program ends with a reader
        // that is still open.
        let debug = criticalsAreFatal ? "G_DEBUG=fatal-criticals" : "G_DEBUG="
        let line = wrapper + ["/usr/bin/env", debug, program]
        process.executableURL = URL(filePath: line[0])
        process.arguments = Array(line.dropFirst())
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: log)
        let (exit, exited) = AsyncStream<Never>.makeStream()
        self.exit = exit
        process.terminationHandler = { process in
            exited.finish()
            process.letGo()
        }
        lines = TestKit.lines(from: output.fileHandleForReading).makeAsyncIterator()
        try process.run()
        try await say("start", until: "started")
    }

    deinit {
        if process.isRunning { process.terminate() }
        try? FileManager.default.removeItem(at: directory)
    }

    /// The criticals of GLib's so far.
    var criticals: [String] {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.components(separatedBy: "\n").filter { $0.contains("-CRITICAL **") }
    }

    /// Gives the probe a command.
    func say(_ command: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
    }

    /// Waits for the next line that begins so, and gives what follows there. Other lines that
    /// come meanwhile can be waited for later.
    @discardableResult
    func hear(_ beginning: String) async throws -> String {
        while true {
            if let index = unclaimed.firstIndex(where: {
                $0 == beginning || $0.hasPrefix(beginning + " ")
            }) {
                return String(unclaimed.remove(at: index).dropFirst(beginning.count + 1))
            }
            guard let line = await lines.next(isolation: #isolation) else {
                let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                throw Ended(awaited: beginning, seen: seen, log: text)
            }
            seen.append(line)
            unclaimed.append(line)
        }
    }

    @discardableResult
    func say(_ command: String, until beginning: String) async throws -> String {
        try say(command)
        return try await hear(beginning)
    }

    /// Enrols the finger that the virtual readers know by `scan`, under a label.
    func enrol(
        _ label: String, on reader: Int, _ socket: VirtualReader, user: String, finger: String,
        scan: String
    ) async throws {
        try say("enrol \(reader) \(label) \(user) \(finger)")
        for _ in 0..<5 { try socket.send("SCAN \(scan)") }
        #expect(try await hear("enrol \(reader)") == "ok")
    }

    /// Enrols the finger that most tests scan: alice's right index, `alice-right`.
    func enrolAlice(on reader: Int = 1, _ socket: VirtualReader) async throws {
        try await enrol(
            "alice", on: reader, socket, user: "alice", finger: "right-index-finger",
            scan: "alice-right")
    }

    /// Ends the probe, which must not have crashed.
    func finish() async throws {
        try input.fileHandleForWriting.close()
        while let line = await lines.next(isolation: #isolation) { seen.append(line) }
        // Not `waitUntilExit`: it keeps the processor busy, and a time limit cannot end it.
        for await _ in exit {}
        try Task.checkCancellation()
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(text)")
    }
}
