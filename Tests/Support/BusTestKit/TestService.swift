// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import TestKit

/// The built daemon on a private bus, with virtual readers and folders of its own.
///
/// It can be ended and started again on the same folders.
package final class TestService {
    /// A virtual reader that the daemon has.
    package enum Reader: String, CaseIterable, Sendable {
        case device = "virtual_device"
        case storage = "virtual_device_storage"
        case image = "virtual_image"

        /// The environment variable that names its socket.
        package var variable: String {
            switch self {
            case .device: "FP_VIRTUAL_DEVICE"
            case .storage: "FP_VIRTUAL_DEVICE_STORAGE"
            case .image: "FP_VIRTUAL_IMAGE"
            }
        }
    }

    package let bus: PrivateBus
    package let scratch: Scratch
    package private(set) var daemon: Child
    private let readers: [Reader]
    private let arguments: [String]
    private let environment: [String: String]
    private let wrapper: [String]

    /// Each user for itself and everybody present: what tests use that are about neither.
    package static let localConfiguration = """
        [Authorization]
        Authority=local
        Sessions=none
        """

    /// Starts the daemon; returns when it has its name.
    /// - Parameters:
    ///   - readers: the virtual readers that it has.
    ///   - configuration: its configuration file.
    ///   - bus: the bus; one of its own by default.
    ///   - arguments: more arguments.
    ///   - environment: more variables.
    ///   - wrapper: a program and its arguments, in front of the daemon's.
    /// - Throws: what kept it from starting.
    package init(
        _ readers: Reader..., configuration: String = TestService.localConfiguration,
        bus: PrivateBus? = nil, arguments: [String] = [], environment: [String: String] = [:],
        wrapper: [String] = []
    ) async throws {
        if let bus { self.bus = bus } else { self.bus = try await PrivateBus() }
        scratch = try Scratch()
        self.readers = readers
        self.environment = environment
        self.wrapper = wrapper
        let config = try scratch.write("localauthd.conf", configuration)
        self.arguments =
            [
                "--config", config, "--state-dir", scratch.file("state"),
                "--print-dir", scratch.file("prints"), "--verbose",
                "--pam-helper", productsDirectory.appending(path: "localauth-pam-helper").path,
            ] + arguments
        // Connected before, so that the name is not missed however soon the daemon leaves again.
        let client = try await TestClient(self.bus)
        daemon = try Self.launch(
            self.bus, scratch, readers, self.arguments, environment, wrapper)
        try await waitForName(client)
    }

    private static func launch(
        _ bus: PrivateBus, _ scratch: Scratch, _ readers: [Reader], _ arguments: [String],
        _ environment: [String: String], _ wrapper: [String]
    ) throws -> Child {
        let names = Reader.allCases.map(\.rawValue).joined(separator: ":")
        var variables = bus.environment
        variables["FP_DRIVERS_WHITELIST"] = names
        variables["FP_DRIVERS_ALLOWLIST"] = names
        for reader in readers {
            variables[reader.variable] = scratch.file(reader.rawValue)
        }
        let program = productsDirectory.appending(path: "localauthd").path
        let line = wrapper + [program] + arguments
        return try Child(
            line[0], Array(line.dropFirst()),
            environment: variables.merging(environment) { $1 }, log: scratch.file("log"))
    }

    /// Waits until the daemon owns its name.
    private func waitForName(_ client: TestClient) async throws {
        let daemon = daemon
        let watcher = Task {
            await daemon.wait()
            await client.close()
        }
        defer { watcher.cancel() }
        guard await client.waitForService() else {
            throw Child.Ended(awaited: "its name", log: daemon.logText)
        }
        await client.close()
    }

    /// Ends the daemon at once, as a crash would, and starts it again.
    package func crashAndRestart() async throws {
        daemon.signal(SIGKILL)
        await daemon.wait()
        try await restart()
    }

    /// Starts the daemon again, after it has ended.
    package func restart() async throws {
        let client = try await TestClient(bus)
        daemon = try Self.launch(bus, scratch, readers, arguments, environment, wrapper)
        try await waitForName(client)
    }

    /// Takes the readers' sockets away, so that new ones show that a reader was opened. The daemon
    /// must not run.
    package func forgetSockets() {
        for reader in readers {
            try? FileManager.default.removeItem(atPath: scratch.file(reader.rawValue))
        }
    }

    /// The commands' end of a virtual reader.
    package var storage: VirtualReader {
        VirtualReader(path: scratch.file(Reader.storage.rawValue))
    }
    package var device: VirtualReader { VirtualReader(path: scratch.file(Reader.device.rawValue)) }
    package var imageSocket: String { scratch.file(Reader.image.rawValue) }

    package var printDirectory: String { scratch.file("prints") }
    package var stateDirectory: String { scratch.file("state") }
    package var log: String { daemon.logText }
}
