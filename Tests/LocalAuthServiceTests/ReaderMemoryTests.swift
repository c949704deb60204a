// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)
private let bobs = StoredPrint(id: .sample(.leftThumb, of: .bob), template: [2])

/// A reader that matches in its own memory and lists it.
private func present(_ more: ReaderFeatures = []) -> [ReaderDescription] {
    var description = ReaderDescription.sample(1)
    description.features.formUnion(more.union([.storage, .storageList]))
    return [description]
}

/// A print that only the reader has.
private func leftover(of account: Account?, _ number: UInt8 = 7) -> LeftoverPrint {
    LeftoverPrint(user: account?.name, template: [number])
}

@Suite(.timeLimit(.minutes(1))) struct `The service, and a reader's own memory` {
    // MARK: The same finger twice

    /// A reader, what is enrolled, and what a new finger is compared with.
    struct Comparison: Sendable {
        var features: ReaderFeatures = []
        var prints: [StoredPrint] = []
        var call: String?
    }

    /// The finger is compared with the user's other prints, and where the reader matches in its own
    /// memory with everybody's; not where there is none, or where the reader does it.
    static let comparisons = [
        Comparison(prints: [.sample], call: "recognise 1 alice/7"),
        Comparison(prints: [bobs]), Comparison(),
        Comparison(features: .storage, prints: [bobs], call: "recognise 1 bob/1"),
        Comparison(
            features: .storage, prints: [bobs, .sample], call: "recognise 1 alice/7 bob/1"),
        Comparison(features: .storage),
        Comparison(features: [.storage, .duplicatesCheck], prints: [bobs, .sample]),
    ]

    @Test(arguments: comparisons)
    func `compares a new finger where two prints of it would do harm`(
        comparison: Comparison
    ) async throws {
        var description = ReaderDescription.sample(1)
        description.features.formUnion(comparison.features)
        try await withService(present: [description]) { fixture, client in
            fixture.prints.prints = comparison.prints
            async let failure = ending { try await client.enrol("left-index-finger") }
            var stages: [Heard] = []
            for done in 0...(comparison.call == nil ? 1 : 2) as ClosedRange<UInt32> {
                let total: UInt32 = comparison.call == nil ? 5 : 6
                stages.append(.enrolled(token: "", done: done, total: total, cause: ""))
            }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await failure == nil)
            #expect(client.heard.filter { $0 != .environmentChanged } == stages)
            #expect(
                fixture.readers.calls.entries
                    == ["open 1"] + (comparison.call.map { [$0] } ?? []) + ["enrol 1", "close 1"])
        }
    }

    @Test func `does not compare a finger with the print that it replaces alone`() async throws {
        try await withService(present: present()) { fixture, client in
            async let failure = ending { try await client.enrol("right-index-finger") }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await failure == nil)
            #expect(fixture.readers.calls.entries == ["open 1", "enrol 1", "close 1"])
        }
    }

    @Test(arguments: [
        (Recognition.known(StoredPrint.sample.id), "FingerAlreadyEnrolled"),
        (.known(bobs.id), "FingerAlreadyEnrolled"),
        // Nobody learns whose it is, and nobody's but one's own may go.
        (.leftover(leftover(of: .bob)), "FingerAlreadyEnrolled"),
        (.leftover(leftover(of: nil)), "FingerAlreadyEnrolled"),
        (.leftover(leftover(of: .alice)), "LeftoverPrints"),
    ])
    func `refuses a finger that is known`(recognition: Recognition, name: String) async throws {
        try await withService(present: present()) { fixture, client in
            fixture.prints.prints.append(bobs)
            fixture.readers.recognitions = [.success(recognition)]
            #expect(await ending { try await client.enrol("left-thumb") } == name)
            #expect(
                fixture.readers.calls.entries == [
                    "open 1", "recognise 1 alice/7 bob/1", "close 1",
                ])
            #expect(fixture.prints.prints == [.sample, bobs])
        }
    }

    @Test func `lets a finger replace its own print, though others are known`() async throws {
        try await withService(present: present()) { fixture, client in
            fixture.prints.prints.append(bobs)
            fixture.readers.recognitions = [.success(.known(StoredPrint.sample.id))]
            fixture.readers.template = [9]
            async let failure = ending { try await client.enrol("right-index-finger") }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await failure == nil)
            #expect(fixture.readers.calls.entries.suffix(3) == ["enrol 1", "delete 1", "close 1"])
        }
    }

    @Test func `takes bad touches of the first comparison for what they are`() async throws {
        try await withService { fixture, client in
            fixture.readers.recognitions = [
                .success(.badScan(.tooShort)), .success(.badScan(.general)), .success(.unknown),
            ]
            async let failure = ending { try await client.enrol("left-thumb") }
            for (done, cause) in [(0, ""), (0, "too-short"), (0, "general"), (1, ""), (2, "")] {
                let stage = await client.nextStage()
                #expect(
                    stage == .enrolled(token: "", done: UInt32(done), total: 6, cause: cause))
            }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await failure == nil)
        }
    }

    @Test func `does not go round for ever with a reader that reads nothing`() async throws {
        try await withService { fixture, client in
            fixture.readers.recognitions = Array(
                repeating: .success(.badScan(.general)), count: 1_000)
            #expect(await ending { try await client.enrol("left-thumb") } == "EnrollmentFailed")
            #expect(fixture.readers.calls.entries.last == "close 1")
        }
    }

    @Test func `ends the first comparison as it ends an enrolment`() async throws {
        var settings = ServiceSettings()
        settings.enrolmentPatience = .milliseconds(20)
        try await withService(settings: settings) { fixture, client in
            fixture.readers.isRecognitionHeld = true
            #expect(await ending { try await client.enrol("left-thumb") } == "Timeout")
            #expect(fixture.readers.calls.entries.suffix(2) == ["cancel 1", "close 1"])
        }
        try await withService { fixture, client in
            fixture.readers.isRecognitionHeld = true
            let other = try await fixture.connect()
            async let failure = ending { try await other.enrol("left-thumb") }
            await fixture.readers.calls.has("wait 1")
            other.close()
            #expect(await failure == "Disconnected")
            await fixture.readers.calls.has("close 1")
            #expect(!fixture.readers.calls.entries.contains("enrol 1"))
        }
    }

    @Test(arguments: [
        (ReaderFailure.io, "EnrollmentFailed"), (.busy, "ReaderBusy"),
        (.removed, "BiometryNotAvailable"), (.tooHot, "BiometryNotAvailable"),
    ])
    func `says why a reader could not compare`(failure: ReaderFailure, name: String) async throws {
        try await withService { fixture, client in
            fixture.readers.recognitions = [.failure(failure)]
            #expect(await ending { try await client.enrol("left-thumb") } == name)
            #expect(fixture.readers.calls.entries.last == "close 1")
        }
    }

    // MARK: What is in the way

    @Test(arguments: [ReaderFailure.storageFull, .duplicate])
    func `names one's own leftovers as what is in the way`(failure: ReaderFailure) async throws {
        let plain = failure == .duplicate ? "FingerAlreadyEnrolled" : "ReaderStorageFull"
        for (leftovers, name) in [
            ([leftover(of: .alice)], "LeftoverPrints"),
            ([leftover(of: .bob, 8), leftover(of: .alice)], "LeftoverPrints"),
            ([leftover(of: .bob), leftover(of: nil, 8)], plain), ([], plain),
        ] {
            try await withService(present: present(.duplicatesCheck)) { fixture, client in
                fixture.readers.contents = ReaderContents(known: [], leftovers: leftovers)
                async let end = ending { try await client.enrol("left-thumb") }
                await fixture.readers.calls.has("enrol 1")
                fixture.readers.end(reader, .failure(failure))
                #expect(await end == name)
                // Nothing goes without being asked for.
                #expect(
                    fixture.readers.calls.entries == ["open 1", "enrol 1", "contents 1", "close 1"])
                #expect(fixture.readers.contents?.leftovers == leftovers)
            }
        }
    }

    @Test func `does not guess where the reader does not say what it has`() async throws {
        try await withService(present: present(.duplicatesCheck)) { fixture, client in
            async let end = ending { try await client.enrol("left-thumb") }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.end(reader, .failure(.storageFull))
            #expect(await end == "ReaderStorageFull")
        }
    }

    @Test func `deletes one's own leftovers when that is asked for, and nobody else's`()
        async throws
    {
        try await withService(present: present(.duplicatesCheck)) { fixture, client in
            let others = [leftover(of: .bob, 8), leftover(of: nil, 9)]
            fixture.readers.contents = ReaderContents(
                known: [StoredPrint.sample.id],
                leftovers: [leftover(of: .alice, 6)] + others + [leftover(of: .alice, 7)])
            async let end = ending {
                try await client.enrol("left-thumb", ["discard-leftovers": .bool(true)])
            }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await end == nil)
            #expect(fixture.readers.contents?.leftovers == others)
            #expect(
                fixture.readers.calls.entries == [
                    "open 1", "contents 1", "discard 1 [6]", "discard 1 [7]", "enrol 1", "close 1",
                ])
        }
    }

    @Test func `deletes a leftover that only a touch has shown`() async throws {
        // It does not list what it has.
        var description = ReaderDescription.sample(1)
        description.features.insert(.storage)
        try await withService(present: [description]) { fixture, client in
            fixture.readers.recognitions = [.success(.leftover(leftover(of: .alice)))]
            async let end = ending {
                try await client.enrol("left-thumb", ["discard-leftovers": .bool(true)])
            }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await end == nil)
            #expect(
                fixture.readers.calls.entries == [
                    "open 1", "contents 1", "recognise 1 alice/7", "discard 1 [7]", "enrol 1",
                    "close 1",
                ])
        }
    }

    @Test func `enrols nothing when leftovers cannot be deleted`() async throws {
        try await withService(present: present()) { fixture, client in
            fixture.readers.contents = ReaderContents(
                known: [], leftovers: [leftover(of: .alice)])
            fixture.readers.deleteFailure = .io
            let end = await ending {
                try await client.enrol("left-thumb", ["discard-leftovers": .bool(true)])
            }
            #expect(end == "EnrollmentFailed")
            #expect(
                fixture.readers.calls.entries == [
                    "open 1", "contents 1", "discard 1 [7]", "close 1",
                ])
        }
    }

    @Test func `takes no other word for the permission`() async throws {
        try await withService { fixture, client in
            for value in [BusValue.string("true"), .uint32(1)] {
                let end = await ending {
                    try await client.enrol("left-thumb", ["discard-leftovers": value])
                }
                #expect(end == "InvalidArgs")
            }
            #expect(fixture.readers.calls.entries == [])
        }
    }

    // MARK: Erasing

    @Test func `is erased for an administrator, with everybody's prints for it`() async throws {
        try await withService(present: present()) { fixture, client in
            let other = StoredPrint(id: .sample(.leftThumb, on: "2"), template: [3])
            fixture.prints.prints += [bobs, other]
            let path = Service.readerPath(1)
            fixture.authority.decision = .denied
            #expect(await ending { try await client.erase(path) } == "NotAuthorized")
            #expect(fixture.authority.questions.entries == [.manageOthers])
            #expect(fixture.readers.calls.entries == [])
            fixture.authority.decision = .granted
            try await client.erase(path)
            #expect(fixture.readers.calls.entries == ["open 1", "erase 1", "close 1"])
            #expect(fixture.prints.prints == [other])
            let fingers = try await client.list()
            #expect(fingers == ["left-thumb"])
            // Each user finds it in the own history.
            for user in ["", "bob"] {
                let entries = try await client.call(
                    GetHistory.self, GetHistory.Arguments(user: user, limit: 1)
                ).entries
                #expect(entries.first?["kind"] == .string("delete"))
                #expect(entries.first?["outcome"] == .string("success"))
                #expect(entries.first?["caller-uid"] == .uint32(1_000))
            }
        }
    }

    @Test func `is not erased without a password, or where there is none`() async throws {
        try await withService(asksForPassword: true, present: present()) { fixture, client in
            let end = await ending { try await client.erase(Service.readerPath(1)) }
            #expect(end == "NotInteractive")
            #expect(fixture.readers.calls.entries == [])
        }
        try await withService { fixture, client in
            let end = await ending { try await client.erase(Service.readerPath(1)) }
            #expect(end == "NotSupported")
            let none = await ending { try await client.erase(Service.readerPath(2)) }
            #expect(none == "BiometryNotAvailable")
            #expect(fixture.readers.calls.entries == [])
            #expect(fixture.prints.prints == [.sample])
        }
    }

    @Test(arguments: [
        (ReaderFailure.io, "StorageFailed"), (.notSupported, "NotSupported"),
        (.removed, "BiometryNotAvailable"), (.busy, "ReaderBusy"),
    ])
    func `keeps the files when it cannot be erased`(
        failure: ReaderFailure, name: String
    ) async throws {
        try await withService(present: present()) { fixture, client in
            fixture.readers.deleteFailure = failure
            let end = await ending { try await client.erase(Service.readerPath(1)) }
            #expect(end == name)
            #expect(fixture.prints.prints == [.sample])
            #expect(fixture.readers.calls.entries.last == "close 1")
        }
    }

    // MARK: Out of step

    @Test func `that has lost the prints says so, costs nothing, and is not asked again`()
        async throws
    {
        try await withService(present: present()) { fixture, client in
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            client.forgetHeard()
            fixture.readers.end(reader, .failure(.notOnReader))
            #expect(await failure == "BiometryNotEnrolled")
            await client.next { $0 == .environmentChanged }
            let attempts = try await client.environment()["attempts-left"]
            #expect(attempts == .uint32(5))
            // The question agrees with the deed, and says why.
            let answer = try await client.can()
            #expect(answer.code == -7 && answer.message.contains("lost"))
            let enrolled = try await client.environment()["biometry-enrolled"]
            #expect(enrolled == .bool(false))
            #expect(await ending { try await client.evaluate() } == "BiometryNotEnrolled")
            #expect(fixture.readers.calls.entries == ["open 1", "scan 1", "close 1"])
            // The files are there, to be deleted or replaced.
            let fingers = try await client.list()
            #expect(fingers == ["right-index-finger"])
        }
    }

    // Also when the print is the same to the last bit.
    @Test(arguments: [[9], StoredPrint.sample.template])
    func `is believed again when the finger is enrolled anew`(template: [UInt8]) async throws {
        try await withService(present: present(.duplicatesCheck)) { fixture, client in
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            fixture.readers.end(reader, .failure(.notOnReader))
            #expect(await failure == "BiometryNotEnrolled")
            fixture.readers.template = template
            client.forgetHeard()
            async let again = ending { try await client.enrol("right-index-finger") }
            await fixture.readers.calls.has("enrol 1")
            fixture.readers.touch(reader, .missed)
            #expect(await again == nil)
            await client.next { $0 == .environmentChanged }
            let answer = try await client.can()
            #expect(answer.canEvaluate)
        }
    }

    @Test func `is believed again when the reader is another`() async throws {
        try await withService(present: present()) { fixture, client in
            async let failure = ending { try await client.evaluate() }
            await fixture.readers.calls.has("scan 1")
            fixture.readers.end(reader, .failure(.notOnReader))
            #expect(await failure == "BiometryNotEnrolled")
            fixture.readers.change(.removed(reader))
            var next = ReaderDescription.sample(2)
            next.features.formUnion([.storage, .storageList])
            fixture.readers.change(.added(next))
            try await client.waitUntilCan(0)
        }
    }
}
