// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// The package's polkit actions, as the real polkitd understands them.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs root, and polkitd at \(PolkitDaemon.program)") {
        getuid() == 0 && FileManager.default.isExecutableFile(atPath: PolkitDaemon.program)
    })
struct `With the real polkit` {
    @Test func `root may, a user without a session may not, until a rule says so`() async throws {
        let bus = try await PrivateBus()
        let polkit = try await PolkitDaemon(on: bus)
        let service = try await TestService(
            .storage, configuration: `Questions to polkit`.configuration, bus: bus)
        let client = try await TestClient(bus)
        let hand = service.hand(on: .storage)
        try await enrol("left-thumb", with: hand, by: client)
        try await enrol(
            "right-thumb", with: hand, touches: .another, by: client, user: "nobody")
        #expect(try await client.can().canEvaluate)
        let evaluation = Task { try await client.evaluate() }
        await client.fingerIsNeeded()
        try await hand.touch(number: 1)
        #expect(try await evaluation.value["method"] == .string("biometrics"))
        try FileManager.default.removeItem(atPath: hand.path)

        let nobody = OtherUser(on: bus)
        #expect(try await nobody.canEvaluate().hasPrefix("(false, -1004, "))
        #expect(try await nobody.evaluate().contains("LocalAuth.Error.NotAuthorized"))
        #expect(!FileManager.default.fileExists(atPath: hand.path), "the reader was opened")

        try await polkit.allow("nobody", "org.example.localauth.evaluate")
        #expect(try await nobody.canEvaluate().hasPrefix("(true, 0, "))
        async let accepted = nobody.evaluate()
        try await hand.touch(.another, number: 1)
        #expect(try await accepted.contains("'method': <'biometrics'>"))

        await polkit.kill()
        let gone = ContinuousClock.now
        #expect(try await client.can().code == -1004)
        let refused = Task { try await client.evaluate() }
        #expect(await error(of: refused) == .notAuthorized)
        #expect(.now - gone < .seconds(10))
    }
}
