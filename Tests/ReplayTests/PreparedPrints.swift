// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import TestKit
import Testing

/// Prints of the fingers in recordings that end early. Each is made once, by the daemon on the recording
/// with its one picture repeated, and kept as the user's folder of prints.
actor PreparedPrints {
    static let shared = PreparedPrints()

    private var folders: [PictureRecording.Reader: Scratch] = [:]

    /// The user's folder of prints.
    func folder(of reader: PictureRecording.Reader) async throws -> String {
        let made: Scratch
        if let known = folders[reader] { made = known } else { made = try await make(reader) }
        folders[reader] = made
        return made.file(NSUserName())
    }

    /// The driver of one takes frames also while a picture is looked into. On a busy machine that can
    /// take so long that they run out; then there are more the next time.
    private func make(_ reader: PictureRecording.Reader) async throws -> Scratch {
        let recording = try PictureRecording(reader)
        var failure: (any Error)?
        for repeats in [6, 20, 60] {
            let driven = try await Driven(reader.rawValue) {
                try recording.write(.fiveTouches(repeats: repeats), to: $0)
            }
            do {
                try await driven.client.enrol("right-index-finger")
                let scratch = try Scratch()
                try FileManager.default.copyItem(
                    atPath: "\(driven.service.printDirectory)/\(NSUserName())",
                    toPath: scratch.file(NSUserName()))
                return scratch
            } catch {
                print("\(reader) needs more than \(repeats) repeats: \(error)")
                failure = error
            }
        }
        throw try #require(failure)
    }
}
