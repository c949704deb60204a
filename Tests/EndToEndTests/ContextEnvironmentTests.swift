// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication
import SystemSupport
import TestKit
import Testing

/// Notes what it is told.
private final class Observer: LAEnvironmentObserver {
    struct Change: Sendable {
        let old: LAEnvironment.State
        let new: LAEnvironment.State
    }

    let changes = Happenings<Change>()

    func environment(
        _ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State
    ) {
        // Asked from within, as applications do.
        let change = Change(old: oldState, new: environment.state)
        BusQueue.post { self.changes.note(change) }
    }

    /// Waits until it is told of a state like this.
    func next(_ matches: @escaping @Sendable (LAEnvironment.State) -> Bool) async -> Change? {
        await changes.next { matches($0.new) }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `An environment` {
    @Test func `says what there is`() async throws {
        let scene = try await ContextScene()
        let environment = LAEnvironment(link: scene.link)
        let state = try await blocking { environment.state }
        let biometry = try #require(state.biometry)
        #expect(biometry.biometryType == .touchID && biometry.isUsable && biometry.isEnrolled)
        #expect(!biometry.isLockedOut && !biometry.builtInSensorInaccessible)
        #expect(biometry.stateHash?.count == 32 && biometry.attemptsLeft == 5)
        #expect(biometry.lockoutSecondsLeft == nil)
        #expect(state.companions.isEmpty && state.allMechanisms.count == 2)
        let again = try await blocking { environment.state }
        #expect(again == state && Set([again, state]).count == 1)
        let context = scene.context()
        let domain = try await blocking { context.domainState }
        #expect(domain.biometry.stateHash == biometry.stateHash)
        #expect(domain.stateHash == domain.biometry.stateHash)
        #expect(domain.companion.availableCompanionTypes.isEmpty)
        #expect(domain.companion.stateHash(for: .watch) == nil)
    }

    @Test func `tells of fingers, of a lockout and of its end`() async throws {
        let scene = try await ContextScene(isEnrolled: false)
        let environment = LAEnvironment(link: scene.link)
        let observer = Observer()
        environment.addObserver(observer)
        environment.addObserver(observer)
        // The state from which changes are told is known by then.
        _ = try await blocking { environment.state }
        try await enrol(on: scene.service, by: scene.watcher)
        let enrolled = try #require(await observer.next { $0.biometry?.isEnrolled == true })
        #expect(enrolled.old.biometry?.stateHash == nil)
        #expect(enrolled.new.biometry?.stateHash?.count == 32)
        await scene.watcher.forgetHeard()
        try await miss(5, on: scene.service.storage, by: scene.watcher)
        let locked = try #require(await observer.next { $0.biometry?.isLockedOut == true })
        #expect(locked.new.biometry?.isUsable == false)
        try await scene.watcher.resetLockout()
        #expect(await observer.next { $0.biometry?.attemptsLeft == 5 } != nil)
        let told = await observer.changes.all.count
        environment.removeObserver(observer)
        try await scene.watcher.delete()
        _ = try await blocking { environment.state }
        let toldAfterwards = await observer.changes.all.count
        #expect(toldAfterwards == told)
    }

    @Test func `does not keep its observers`() async throws {
        let scene = try await ContextScene()
        let environment = LAEnvironment(link: scene.link)
        var observer: Observer? = Observer()
        weak let weakObserver = observer
        environment.addObserver(try #require(observer))
        observer = nil
        #expect(weakObserver == nil)
    }

    @Test func `tells of a service that goes and comes`() async throws {
        let scene = try await ContextScene()
        let environment = LAEnvironment(link: scene.link)
        let observer = Observer()
        environment.addObserver(observer)
        _ = try await blocking { environment.state }
        scene.service.daemon.signal(SIGKILL)
        await scene.service.daemon.wait()
        let gone = try #require(await observer.next { $0.biometry == nil })
        #expect(gone.new.allMechanisms.isEmpty && gone.old.biometry != nil)
        try await scene.service.restart()
        #expect(await observer.next { $0.biometry != nil } != nil)
        // The new service was asked to tell as well.
        await scene.watcher.forgetHeard()
        try await enrol("left-thumb", as: "new", on: scene.service, by: scene.watcher)
        #expect(await observer.next { $0.biometry?.isEnrolled == true } != nil)
    }

    @Test func `is empty without a service`() async throws {
        let bus = try await PrivateBus()
        let environment = LAEnvironment(link: ServiceLink(address: bus.address))
        let state = try await blocking { environment.state }
        #expect(state.biometry == nil && state.userPassword == nil)
        #expect(state.allMechanisms.isEmpty)
        // An observer that comes before the service hears of it.
        let observer = Observer()
        environment.addObserver(observer)
        _ = try await blocking { environment.state }
        let service = try await TestService(.storage, bus: bus)
        #expect(await observer.next { $0.biometry != nil } != nil)
        _ = service
    }
}
