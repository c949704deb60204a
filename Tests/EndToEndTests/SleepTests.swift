// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct `The machine's sleep` {
    @Test func `ends every scan, fifty times, and leaves nothing behind`() async throws {
        let scene = try await MachineScene()
        let (service, client) = (scene.service, scene.client)
        var times: [Duration] = []
        func night() async throws {
            let evaluation = evaluating(client)
            await client.fingerIsNeeded()
            let queued = evaluating(client, "queued")
            await client.next { $0 == .progress(token: "queued", state: "queued") }
            times.append(await scene.fallAsleep())
            #expect(await error(of: evaluation) == .systemCancel)
            #expect(await error(of: queued) == .systemCancel)
            #expect(!service.storage.isOpen)
            #expect(try await client.can().code == -6)
            #expect(await error(of: evaluating(client)) == .biometryNotAvailable)
            await scene.wakeUp()
            try await client.waitUntilCan(0)
            // The first try after the night.
            try await touch(service.storage, by: client)
        }
        for _ in 0..<5 { try await night() }
        let before = try await Figures(of: service, by: client)
        times = []
        for _ in 0..<50 { try await night() }
        let after = try await Figures(of: service, by: client)
        times.sort()
        print("the machine waited \(times[25]) (median), \(times[49]) at most")
        print("50 nights: \(before) -> \(after)")
        #expect(times[45] < .seconds(1) && times[49] < .seconds(3))
        #expect(await scene.logind.inhibitors == 1)
        #expect(try await client.attemptsLeft() == 5)
        after.expectNoMore(than: before)
    }

    @Test func `does not wait for a driver that does not listen`() async throws {
        let scene = try await MachineScene()
        let evaluation = evaluating(scene.client)
        await scene.client.fingerIsNeeded()
        try scene.reader.send("SET_CANCELLATION_ENABLED 0")
        let time = await scene.fallAsleep()
        print("the machine waited \(time) for a driver that does not listen")
        #expect(time < .seconds(4))
        #expect(await error(of: evaluation) == .systemCancel)
        await scene.wakeUp()
        // A touch for nobody, with which the driver notices the cancel.
        try scene.reader.send("SCAN mine")
        try await scene.reader.waitUntilClosed()
        try await scene.client.waitUntilCan(0)
        try await touch(scene.reader, by: scene.client)
        #expect(try await scene.client.attemptsLeft() == 5)
    }

    @Test func `ends an enrolment, of which nothing is kept`() async throws {
        let scene = try await MachineScene()
        let enrolment = Task { [client = scene.client] in try await client.enrol("left-thumb") }
        await scene.client.nextStage()
        for _ in 0..<4 {
            try scene.reader.send("SCAN thumb")
            await scene.client.nextStage()
        }
        _ = await scene.fallAsleep()
        #expect(await error(of: enrolment) == .systemCancel)
        await scene.wakeUp()
        try await scene.client.waitUntilCan(0)
        #expect(try await scene.client.list() == ["right-index-finger"])
        try await enrol("left-thumb", as: "thumb", on: scene.service, by: scene.client)
    }

    @Test func `takes a caller that dies meanwhile with it`() async throws {
        let scene = try await MachineScene()
        let mortal = try await TestClient(scene.service.bus)
        let lost = evaluating(mortal)
        await mortal.fingerIsNeeded()
        await scene.logind.prepareForSleep(true)
        await mortal.close()
        _ = await lost.result
        await scene.logind.inhibitorCounts.next { $0 == 0 }
        await scene.wakeUp()
        try await scene.client.waitUntilCan(0)
        try await touch(scene.reader, by: scene.client)
        #expect(try await scene.client.attemptsLeft() == 5)
    }

    @Test func `that has begun before the daemon is respected, and its end works`() async throws {
        let scene = try await MachineScene(on: .device)
        scene.service.daemon.signal(SIGTERM)
        await scene.service.daemon.wait()
        await scene.logind.inhibitorCounts.next { $0 == 0 }
        // The prints of this reader outlive the daemon. logind gives out no inhibitor any more, and says nothing either.
        await scene.logind.setPreparingForSleep(true)
        await scene.logind.refuseInhibitors(true)
        let client = scene.client
        scene.service.forgetSockets()
        try await scene.service.restart()
        #expect(try await client.can().code == -6)
        #expect(await error(of: evaluating(client)) == .biometryNotAvailable)
        #expect(!scene.reader.wasOpened)
        await scene.wakeUp()
        try await client.waitUntilCan(0)
        try await touch(scene.reader, by: client)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A lid` {
    /// The virtual readers are nowhere: at hand with a closed lid only where it is docked.
    @Test func `that is closed ends the scan and hides the reader`() async throws {
        let scene = try await MachineScene()
        let client = scene.client
        let evaluation = evaluating(client)
        await client.fingerIsNeeded()
        await scene.logind.changeLid(.bool(true))
        #expect(await error(of: evaluation) == .biometryNotAvailable)
        try await client.waitUntilCan(-6)
        #expect(try await client.environment()["sensor-inaccessible"] == .bool(true))
        #expect(await error(of: evaluating(client)) == .biometryNotAvailable)
        try await scene.reader.waitUntilClosed()

        await scene.logind.changeDock(.bool(true))
        try await client.waitUntilCan(0)
        #expect(try await client.environment()["sensor-inaccessible"] == .bool(false))
        try await touch(scene.reader, by: client)
        try await scene.reader.waitUntilClosed()

        await scene.logind.changeDock(.bool(false))
        try await client.waitUntilCan(-6)
        await scene.logind.changeLid(.bool(false))
        try await client.waitUntilCan(0)
        try await touch(scene.reader, by: client)
        #expect(try await client.attemptsLeft() == 5)
    }

    @Test func `that is closed ends an enrolment`() async throws {
        let scene = try await MachineScene()
        let enrolment = Task { [client = scene.client] in try await client.enrol("left-thumb") }
        await scene.client.nextStage()
        await scene.logind.changeLid(.bool(true))
        #expect(await error(of: enrolment) == .biometryNotAvailable)
        let again = Task { [client = scene.client] in try await client.enrol("left-thumb") }
        #expect(await error(of: again) == .biometryNotAvailable)
        #expect(try await scene.client.list() == ["right-index-finger"])
    }
}

@Suite(.timeLimit(.minutes(1))) struct `An enrolment by somebody who sits here` {
    // Root may enrol from anywhere, so somebody else has to.
    @Test(.enabled("needs root, to be another user") { OtherAccount.canBe })
    func `ends when the session is left, and nothing of it is kept`() async throws {
        let scene = try await MachineScene()
        let user = UInt32(OtherAccount.alice.uid)
        await scene.logind.add("c2", FakeLogind.Session(user: user))
        await scene.logind.setDisplay(of: user, to: "c2")
        let line = busctl(
            scene.service, "EnrollFinger", ["ssa{sv}", "", "left-thumb", "0"],
            interface: "org.example.LocalAuth.Management")
        let enrolment = running(line, as: .alice)
        try await scene.reader.waitUntilOpen()
        await scene.logind.change("c2", to: FakeLogind.Session(isActive: false, user: user))
        let result = try await enrolment.value
        #expect(result.status != 0)
        #expect(result.errors.contains("Canceled by the system."), "\(result.errors)")
        try await scene.reader.waitUntilClosed()
        #expect(try await scene.client.list(user: OtherAccount.alice.name) == [])
        try await touch(scene.reader, by: scene.client)
    }
}
