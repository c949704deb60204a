// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthModel
import SystemAuthorities
import SystemSupport

/// A machine under watch, and what was told of it.
@BusQueue final class MachineFixture {
    let bus: PrivateBus
    let connection: BusConnection
    let machine: LogindMachine
    let lids = Journal<LidState>()
    /// `sleep`, `slept`, `wake` and `woken`: the beginning and the end of each call.
    let told = Journal<String>()
    /// Whether a call of `sleep` or `wake` stays until `goOn`.
    var isHeld = false
    private var held: [CheckedContinuation<Void, Never>] = []

    init(_ bus: PrivateBus, patience: Duration) throws {
        self.bus = bus
        connection = try BusConnection(address: bus.address)
        machine = LogindMachine(
            on: connection, log: Log(topic: "machine", threshold: .error), patience: patience)
    }

    func start() async {
        await machine.start { [self] lid in
            BusQueue.assumeIsolated { lids.add(lid) }
        } sleep: {
            await self.note("sleep", "slept")
        } wake: {
            await self.note("wake", "woken")
        }
    }

    private func note(_ beginning: String, _ end: String) async {
        told.add(beginning)
        if isHeld { await withCheckedContinuation { held.append($0) } }
        told.add(end)
    }

    /// Lets the calls that stay return.
    func goOn() {
        let waiting = held
        held = []
        for call in waiting { call.resume() }
    }

    /// Waits until everything that was sent before has come.
    func settle() async throws {
        _ = try await connection.credentials(of: connection.uniqueName, deadline: .seconds(30))
        for _ in 0..<5 {
            await withCheckedContinuation { turn in BusQueue.post { turn.resume() } }
        }
    }
}

/// Runs a test's body on the bus queue.
func withMachine(
    logind machine: FakeLogind.Machine? = .init(), patience: Duration = .seconds(30),
    _ body: @escaping @Sendable @BusQueue (MachineFixture, FakeLogind?) async throws -> Void
) async throws {
    let bus = try await PrivateBus()
    var logind: FakeLogind?
    if let machine { logind = try await FakeLogind(bus, machine: machine) }
    let fixture = try await MachineFixture(bus, patience: patience)
    let result: Result<Void, any Error>
    do {
        result = .success(try await body(fixture, logind))
    } catch {
        result = .failure(error)
    }
    await fixture.goOn()
    await fixture.connection.close()
    await logind?.close()
    try result.get()
}
