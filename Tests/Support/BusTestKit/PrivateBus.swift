// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import Foundation
internal import SystemSupport
internal import TestKit

/// Starts the test process's own bus queue, once. Nothing isolated to it could do so.
private let busQueue: Void = BusQueue.executor.start()

/// Starts the bus queue for tests that need no bus.
package func startBusQueue() { _ = busQueue }

/// A message bus of a test's own, of the type of the system bus. Its address is passed on as a
/// value: nothing is read from this process's environment, or put there.
package final class PrivateBus: Sendable {
    package let address: String
    /// The process of the bus itself; of its launcher, where it has one.
    package let processID: pid_t
    private let keeper: Child
    /// Where dbus-broker finds the journal, without which it does not start.
    private let journal: DatagramInbox?
    /// Open as long as the bus is wanted.
    private let life = Pipe()
    private let scratch: Scratch

    /// The programs that can be the bus.
    package enum Program: String, CaseIterable, Sendable {
        case daemon = "dbus-daemon"
        case broker = "dbus-broker"

        /// Whether it can be started here: dbus-broker's launcher wants a journal, which it gets
        /// in a mount namespace, and those are root's.
        package var isUsable: Bool {
            switch self {
            case .daemon: true
            case .broker:
                geteuid() == 0
                    && FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-broker-launch")
            }
        }

        /// Starts the bus in the background, with its configuration in `$0`, its socket in `$1` and
        /// a folder with a journal's socket in `$2`.
        fileprivate func script(_ arguments: [String]) -> String {
            switch self {
            case .daemon:
                """
                setpriv --pdeathsig KILL dbus-daemon --nofork --nopidfile \
                  --config-file="$0" \(arguments.joined(separator: " ")) &
                """
            case .broker:
                """
                setpriv --pdeathsig KILL unshare --mount sh -ec '
                  mount -t tmpfs none /run && mkdir -p /run/systemd/journal
                  mount --bind "$2" /run/systemd/journal
                  exec systemd-socket-activate -E DBUS_SYSTEM_BUS_ADDRESS="unix:path=$1" \
                    -l "$1" dbus-broker-launch --scope system --config-file "$0"
                ' "$0" "$1" "$2" &
                """
            }
        }
    }

    /// Starts a bus.
    ///
    /// `policy` is what stands between the `<busconfig>` tags behind type and address; the
    /// default lets everybody do everything. `arguments` are dbus-daemon's.
    package init(
        policy: String = PrivateBus.openPolicy, program: Program = .daemon,
        arguments: [String] = []
    ) async throws {
        _ = busQueue
        scratch = try Scratch()
        let socket = scratch.file("bus")
        let config = try scratch.write(
            "bus.conf",
            """
            <busconfig>
              <type>system</type>
              <listen>unix:path=\(socket)</listen>
              <auth>EXTERNAL</auth>
              \(policy)
            </busconfig>
            """)
        try FileManager.default.createDirectory(
            atPath: scratch.file("journal"), withIntermediateDirectories: false)
        journal = program == .broker ? try DatagramInbox(scratch.file("journal/socket")) : nil
        let output = Pipe()
        // The shell ends the bus when its own input ends, which it does with this process, even
        // if that crashes; and the programs on the bus end with it.
        let script = """
            \(program.script(arguments))
            while ! [ -S "$1" ] && kill -0 $!; do sleep 0.01; done
            # Anybody may connect, as to the system's own bus.
            chmod 666 "$1"
            echo $!
            read -r _
            kill -9 $!
            """
        keeper = try Child(
            "/bin/sh", ["-c", script, config, socket, scratch.file("journal")],
            log: scratch.file("log"), output: output, input: life, endsByItself: true)
        var lines = TestKit.lines(from: output.fileHandleForReading).makeAsyncIterator()
        guard let line = await lines.next(), let number = pid_t(line),
            FileManager.default.fileExists(atPath: socket)
        else {
            throw Child.Ended(awaited: "its socket", log: keeper.logText)
        }
        processID = number
        address = "unix:path=\(socket)"
        // The socket is bound before it listens, and refuses connections in between.
        _ = try VirtualSocket.connect(to: socket)
    }

    deinit { try? life.fileHandleForWriting.close() }

    package static let openPolicy = """
        <policy context="default">
          <allow user="*"/><allow own="*"/>
          <allow send_destination="*" eavesdrop="true"/>
          <allow receive_sender="*" eavesdrop="true"/>
        </policy>
        """

    /// What the bus has written to its standard error.
    package var log: String { keeper.logText }

    /// A connection; a failure says what became of the bus.
    @BusQueue package func connect() throws -> BusConnection {
        do throws(BusError) {
            return try BusConnection(address: address)
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NoServer" else { throw error }
            let state =
                (try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)) ?? "gone"
            let text = "bus \(processID): \(state); keeper runs: \(keeper.isRunning)\n"
            throw Child.Ended(awaited: "a connection", log: text + keeper.logText)
        }
    }

    /// The variable by which programs find this bus instead of the system's.
    package var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": address] }
}
