// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A right` {
    private func store(_ scene: ContextScene, _ scratch: Scratch) -> LARightStore {
        LARightStore(folder: URL(filePath: scratch.file("rights")), link: scene.link)
    }

    @Test func `is authorized by a finger, each time anew`() async throws {
        let scene = try await ContextScene()
        let right = LARight(.biometry, link: scene.link)
        #expect(right.state == .unknown && right.tag == 0)
        try await right.checkCanAuthorize()
        for _ in 0..<2 {
            let authorization = Task { try await right.authorize(localizedReason: "pay") }
            await scene.watcher.fingerIsNeeded()
            #expect(right.state == .authorizing)
            try scene.service.storage.send("SCAN mine")
            try await authorization.value
            #expect(right.state == .authorized)
        }
        await right.deauthorize()
        #expect(right.state == .notAuthorized)
    }

    @Test func `is not authorized by a wrong one, nor when it is given up`() async throws {
        let scene = try await ContextScene()
        let right = LARight(.biometry, link: scene.link)
        let failing = Task { try await right.authorize(localizedReason: "pay") }
        try await scene.miss(3)
        #expect(await failing.code == .authenticationFailed)
        #expect(right.state == .notAuthorized)
        let given = Task { try await right.authorize(localizedReason: "pay") }
        await scene.watcher.fingerIsNeeded()
        await right.deauthorize()
        #expect(await given.code == .appCancel)
        #expect(right.state == .notAuthorized)
        try await scene.service.storage.waitUntilClosed()
    }

    @Test func `is kept over the end of the program`() async throws {
        let scene = try await ContextScene()
        let scratch = try Scratch()
        let right = LARight(.biometryCurrentSet, link: scene.link)
        right.tag = 7
        let saved = try await store(scene, scratch).saveRight(right, identifier: "notes/../x é")
        #expect(saved.state == .unknown && saved.tag == 7)
        let found = try await store(scene, scratch).right(forIdentifier: "notes/../x é")
        #expect(found.tag == 7)
        let authorization = Task { try await found.authorize(localizedReason: "read") }
        try await scene.touch()
        try await authorization.value
        // A finger more, and the old ones do not count any more.
        await scene.watcher.forgetHeard()
        try await enrol("left-thumb", as: "new", on: scene.service, by: scene.watcher)
        let after = try await store(scene, scratch).right(forIdentifier: "notes/../x é")
        let changed = await error { try await after.checkCanAuthorize() }
        #expect(changed?.serviceErrorName == ServiceError.domainStateChanged.name.rawValue)
        let refused = await error { try await after.authorize(localizedReason: "read") }
        #expect(refused?.code == .authenticationFailed)
        #expect(after.state == .notAuthorized)
    }

    @Test func `is saved once under a name, and removed`() async throws {
        let scene = try await ContextScene()
        let scratch = try Scratch()
        let store = store(scene, scratch)
        try await store.saveRight(LARight(.biometry, link: scene.link), identifier: "a")
        await #expect(throws: CocoaError.self) {
            try await store.saveRight(LARight(.default, link: scene.link), identifier: "a")
        }
        let kept = try await store.right(forIdentifier: "a")
        try await store.removeRight(kept)
        #expect(kept.state == .notAuthorized)
        await #expect(throws: CocoaError.self) { try await store.right(forIdentifier: "a") }
        await #expect(throws: CocoaError.self) { try await store.removeRight(forIdentifier: "a") }
        try await store.saveRight(kept, identifier: "b")
        try await store.removeAllRights()
        try await store.removeAllRights()
        await #expect(throws: CocoaError.self) { try await store.right(forIdentifier: "b") }
    }

    @Test(arguments: [
        "", "{}", "{\"version\":2,\"requirement\":\"any\",\"tag\":0}",
        "{\"version\":1,\"requirement\":\"none\",\"tag\":0}",
        "{\"version\":1,\"requirement\":\"biometry-current-set\",\"tag\":0}",
        String(repeating: " ", count: 5_000) + "{\"version\":1,\"requirement\":\"any\",\"tag\":0}",
    ])
    func `is not made of a file that is no right`(text: String) async throws {
        let scene = try await ContextScene(isEnrolled: false)
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("rights"), withIntermediateDirectories: false)
        _ = try scratch.write("rights/a.json", text)
        await #expect(throws: CocoaError(.fileReadCorruptFile)) {
            try await store(scene, scratch).right(forIdentifier: "a")
        }
    }

    @Test func `is not waited for in a pipe`() async throws {
        let scene = try await ContextScene(isEnrolled: false)
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("rights"), withIntermediateDirectories: false)
        #expect(unsafe mkfifo(scratch.file("rights/a.json"), 0o600) == 0)
        await #expect(throws: CocoaError(.fileReadCorruptFile)) {
            try await store(scene, scratch).right(forIdentifier: "a")
        }
    }

    @Test(arguments: ["", String(repeating: "x", count: 201)])
    func `has a name that can be one`(identifier: String) async throws {
        let scene = try await ContextScene(isEnrolled: false)
        let scratch = try Scratch()
        let right = LARight(.biometry, link: scene.link)
        await #expect(throws: CocoaError(.fileWriteInvalidFileName)) {
            try await store(scene, scratch).saveRight(right, identifier: identifier)
        }
        await #expect(throws: CocoaError(.fileReadInvalidFileName)) {
            try await store(scene, scratch).right(forIdentifier: identifier)
        }
    }

    @Test func `is nobody else's to read`() async throws {
        let scene = try await ContextScene(isEnrolled: false)
        let scratch = try Scratch()
        let right = LARight(.biometry, link: scene.link)
        try await store(scene, scratch).saveRight(right, identifier: "a")
        for (path, mode) in [("rights", 0o700), ("rights/a.json", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file(path))
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.file("rights"))
                == ["a.json"])
    }
}
