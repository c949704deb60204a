// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// The built daemon with a recorded reader, and a client of it.
struct Driven {
    let service: TestService
    let client: TestClient
    let scratch: Scratch

    /// With a recording as it is.
    init(_ reader: String) async throws {
        scratch = try Scratch()
        service = try await TestService(
            environment: Self.environment(reader), wrapper: Recordings.wrapper(reader))
        client = try await TestClient(service.bus)
    }

    /// With a recording that is made of another one, in the file that is given.
    init(_ reader: String, make: (String) throws -> Void) async throws {
        scratch = try Scratch()
        let traffic = scratch.file("traffic.pcapng")
        try make(traffic)
        service = try await TestService(
            environment: Self.environment(reader),
            wrapper: Recordings.wrapper(reader, traffic: traffic))
        client = try await TestClient(service.bus)
    }

    /// With a reader that matches on its chip, on which this is done.
    init(
        _ reader: ChipRecording.Reader, _ pieces: [ChipRecording.Piece], allocator: String? = nil
    ) async throws {
        scratch = try Scratch()
        let traffic = scratch.file("traffic.pcapng")
        try ChipRecording(reader).write(pieces, to: traffic)
        let library = try await preloadLibrary("blank-ids", in: scratch)
        var environment = Self.environment(reader.rawValue)
        environment["G_SLICE"] = allocator
        service = try await TestService(
            environment: environment,
            wrapper: Recordings.wrapper(reader.rawValue, traffic: traffic) + [
                "/usr/bin/env", "LD_PRELOAD=\(library):libumockdev-preload.so.0",
            ])
        client = try await TestClient(service.bus)
    }

    private static func environment(_ reader: String) -> [String: String] {
        let driver = String(reader.prefix { $0 != "-" })
        return ["FP_DRIVERS_WHITELIST": driver, "FP_DRIVERS_ALLOWLIST": driver]
    }

    /// The properties of the one reader that there is.
    func properties() async throws -> [String: BusValue] {
        // Asked first, so that the readers are known.
        _ = try await client.can()
        let objects = try await client.call(GetManagedObjects.self, NoValues()).value
        return try #require(
            objects[Service.readerPath(1)]?[Service.readerInterface.rawValue])
    }

    /// Enrols a finger, lists it, has it accepted, deletes it; and says how many touches and how long
    /// that took. `enrolled` looks at what was told of the enrolment.
    func goTheWholeWay(on reader: String, enrolled: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        try await client.enrol("right-index-finger")
        try await enrolled()
        #expect(try await client.list() == ["right-index-finger"])
        #expect(try await client.can().canEvaluate)
        let asked = ContinuousClock.now
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
        let (now, touches) = (ContinuousClock.now, await client.stages.count - 1)
        print(
            "LocalAuth on \(reader): \(touches) touches to enrol, accepted after \(now - asked), "
                + "enrolled and accepted after \(now - start)")
        try await client.delete()
        #expect(try await client.list() == [])
        #expect(try await client.can().code == -7)
    }
}
