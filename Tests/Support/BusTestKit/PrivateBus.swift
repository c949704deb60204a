// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
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
    /// The process of the bus itself.
    package let processID: pid_t
    private let keeper: Child
    /// Open as long as the bus is wanted.
    private let life = Pipe()
    private let scratch: Scratch

    /// Starts a bus.
    ///
    /// `policy` is what stands between the `<busconfig>` tags behind type and address; the
    /// default lets everybody do everything.
    package init(policy: String = PrivateBus.openPolicy) async throws {
        _ = busQueue
        scratch = try Scratch()
        let config = try scratch.write(
            "bus.conf",
            """
            <busconfig>
              <type>system</type>
              <listen>unix:path=\(scratch.file("bus"))</listen>
              <auth>EXTERNAL</auth>
              \(policy)
            </busconfig>
            """)
        let output = Pipe()
        // The shell ends the bus when its own input ends, which it does with this process, even
        // if that crashes; and the programs on the bus end with it.
        let script = """
            setpriv --pdeathsig KILL \
              dbus-daemon --nofork --nopidfile --print-address=1 --config-file="$0" &
            echo $!
            read -r _
            kill -9 $!
            """
        keeper = try Child(
            "/bin/sh", ["-c", script, config], log: scratch.file("log"), output: output,
            input: life, endsByItself: true)
        var lines = TestKit.lines(from: output.fileHandleForReading).makeAsyncIterator()
        // Either of the two can be first.
        guard let one = await lines.next(), let other = await lines.next(),
            let number = pid_t(one) ?? pid_t(other)
        else {
            throw Child.Ended(awaited: "its address", log: keeper.logText)
        }
        processID = number
        address = pid_t(one) == nil ? one : other
    }

    deinit { try? life.fileHandleForWriting.close() }

    package static let openPolicy = """
        <policy context="default">
          <allow user="*"/><allow own="*"/>
          <allow send_destination="*" eavesdrop="true"/>
          <allow receive_sender="*" eavesdrop="true"/>
        </policy>
        """

    /// The variable by which programs find this bus instead of the system's.
    package var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": address] }
}
