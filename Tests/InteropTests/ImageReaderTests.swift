// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import Synchronization
import TestKit
import Testing

/// Pictures of fingers that are compared on the host, by the matcher that real readers use.
@Suite(.timeLimit(.minutes(1))) struct `A reader of pictures` {
    @Test func `accepts the enrolled finger, refuses another, and asks again after a bad picture`()
        async throws
    {
        let service = try await TestService(.image)
        let client = try await TestClient(service.bus)
        let hand = service.hand(on: .image)
        try await enrol("right-index-finger", with: hand, by: client)
        #expect(try await client.list() == ["right-index-finger"])

        let accepted = Task { try await client.evaluate(["token": .string("accepted")]) }
        await client.fingerIsNeeded()
        try await hand.touch(number: 5)
        #expect(try await accepted.value["method"] == .string("biometrics"))

        let evaluation = Task { try await client.evaluate(["token": .string("refused")]) }
        await client.fingerIsNeeded()
        let path = hand.path
        try await blocking {
            try VirtualSocket.send(.blank(width: 160, height: 160), to: path)
        }
        // A picture without a finger costs nothing.
        #expect(
            await client.nextRetry()
                == .retry(token: "refused", cause: "general", attemptsLeft: 3))
        for left in [2, 1, 0] as [UInt32] {
            await client.fingerIsNeeded()
            try await hand.touch(.another, number: UInt64(left))
            if left > 0 {
                #expect(
                    await client.nextRetry()
                        == .retry(token: "refused", cause: "no-match", attemptsLeft: left))
            }
        }
        #expect(await error(of: evaluation) == .authenticationFailed)
    }

    @Test func `enrols no finger under two names, which takes a touch more to see`() async throws {
        let service = try await TestService(.image)
        let client = try await TestClient(service.bus)
        let hand = service.hand(on: .image)
        try await enrol("right-index-finger", with: hand, by: client)
        // The first touch is compared, and refused.
        await #expect(
            error(of: Task { try await enrol("left-thumb", with: hand, by: client) })
                == .fingerAlreadyEnrolled)
        await #expect(client.stages.last == .enrolled(token: "", done: 0, total: 6, cause: ""))
        #expect(try await client.list() == ["right-index-finger"])
        // Another finger goes through six touches, and the old one still matches.
        try await enrol("left-thumb", with: hand, touches: .another, by: client)
        await #expect(client.stages.last == .enrolled(token: "", done: 6, total: 6, cause: ""))
        for finger in [Hand.Finger.mine, .another] {
            let evaluation = Task { try await client.evaluate() }
            await client.fingerIsNeeded()
            try await hand.touch(finger, number: 9)
            #expect(try await evaluation.value["method"] == .string("biometrics"))
        }
        // In place of its own print the finger is welcome.
        try await enrol("right-index-finger", with: hand, by: client)
        #expect(try await client.list().count == 2)
    }

    @Test func `makes a print anew each time, and adds nothing to the old one`() async throws {
        let service = try await TestService(.image)
        let client = try await TestClient(service.bus)
        let hand = service.hand(on: .image)
        // Image readers offer to add to a print. The same pictures make the same print.
        var prints: [Data] = []
        for _ in 0..<2 {
            try await enrol("right-index-finger", with: hand, by: client)
            let path = "\(service.printDirectory)/\(NSUserName())/virtual_image/0/7"
            prints.append(try Data(contentsOf: URL(filePath: path)))
        }
        #expect(prints[0] == prints[1])
    }

    @Test func `everybody else is answered at once while it compares for seconds`() async throws {
        let service = try await TestService(.image)
        let client = try await TestClient(service.bus)
        let other = try await TestClient(service.bus)
        let finger = SyntheticFinger.slowToMatch()
        let socket = service.imageSocket
        let enrolled = Task { try await client.enrol("right-thumb") }
        for number in 0..<5 as Range<UInt64> {
            await client.nextStage()
            let picture = finger.image(Touch(seed: number))
            try await blocking { try VirtualSocket.send(picture, to: socket) }
        }
        try await enrolled.value

        let picture = finger.image(Touch(seed: 5))
        let answered = Mutex<ContinuousClock.Instant?>(nil)
        let evaluation = Task {
            defer { answered.withLock { $0 = .now } }
            return try await client.evaluate()
        }
        await client.fingerIsNeeded()
        try await blocking { try VirtualSocket.send(picture, to: socket) }
        let sent = ContinuousClock.now
        var answers = Delays()
        var yardstick = Delays()
        while answered.withLock({ $0 == nil }) {
            try await answers.measure { _ = try await other.can() }
            // What the bus itself takes to answer, on a machine that is as busy.
            try await yardstick.measure { try await other.askBus() }
        }
        #expect(try await evaluation.value["method"] == .string("biometrics"))

        let comparing = try #require(answered.withLock { $0 }) - sent
        print("During \(comparing) of comparing, CanEvaluatePolicy: \(answers); bus: \(yardstick)")
        #expect(comparing > .seconds(1), "the comparison was too quick to say anything")
        #expect(answers.count >= 200)
        // Five milliseconds, and what any answer costs: a call of ours passes the bus twice.
        #expect(answers[99] < .milliseconds(5) + yardstick[99] * 2)
        #expect(answers[100] < .milliseconds(250) + yardstick[100])
    }
}

/// How long answers took.
private struct Delays: CustomStringConvertible {
    private var all: [Duration] = []

    var count: Int { all.count }

    /// What so many in a hundred do not exceed.
    subscript(percent: Int) -> Duration {
        guard !all.isEmpty else { return .zero }
        return all.sorted()[min(all.count * percent / 100, all.count - 1)]
    }

    mutating func measure(_ work: () async throws -> Void) async rethrows {
        let asked = ContinuousClock.now
        try await work()
        all.append(.now - asked)
    }

    var description: String {
        let figures = [50, 99, 100].map { "p\($0) \(self[$0] / .milliseconds(1)) ms" }
        return "\(count) answers, " + figures.joined(separator: ", ")
    }
}

extension TestClient {
    /// Asks the bus itself something.
    func askBus() async throws {
        _ = try await connection.credentials(of: connection.uniqueName, deadline: .seconds(60))
    }
}
