// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import Testing

/// Recordings of real readers, which are no part of this package: a folder with
/// `replay/with-recording.sh` and `captures/`. They fit the libfprint that they were made with.
private enum Recordings {
    static let folder: String =
        ProcessInfo.processInfo.environment["LOCALAUTH_SHARED"]
        ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared").path

    static let script = folder + "/replay/with-recording.sh"

    /// Says so on standard error when there are none: nobody is to take a skipped suite for a
    /// passed one.
    static let areUsable: Bool = {
        let needed = ["/usr/bin/umockdev-run", script]
        guard let missing = needed.first(where: { !FileManager.default.fileExists(atPath: $0) })
        else { return true }
        let words = "SKIPPED: Recorded readers, for want of \(missing) (see LOCALAUTH_SHARED)\n"
        try? FileHandle.standardError.write(contentsOf: Data(words.utf8))
        return false
    }()
}

/// Drivers of real hardware, driven by the daemon over the bus, unmodified.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled("needs umockdev-run, and recordings at \(Recordings.folder)") {
        Recordings.areUsable
    })
struct `Recorded readers` {
    // A recording repeats itself, so every touch is of one finger.
    @Test(arguments: ["nb1010", "elan", "aes3500", "vfs301"])
    func `enrol, list, accept and delete a finger`(driver: String) async throws {
        let service = try await TestService(
            environment: ["FP_DRIVERS_ALLOWLIST": driver],
            wrapper: [Recordings.script, driver, "--"])
        let client = try await TestClient(service.bus)
        #expect(try await client.environment()["biometry-type"] == .uint32(1))
        try await client.enrol("right-index-finger")
        #expect(try await client.list() == ["right-index-finger"])
        #expect(try await client.can().canEvaluate)
        #expect(try await client.evaluate()["method"] == .string("biometrics"))
        try await client.delete()
        #expect(try await client.list() == [])
        #expect(try await client.can().code == -7)
    }
}
