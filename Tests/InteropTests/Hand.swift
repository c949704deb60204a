// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import LocalAuthContract
import TestKit

/// A finger that can be laid on a virtual reader, whichever kind that is.
struct Hand: Sendable {
    enum Finger: Hashable, Sendable { case mine, another }

    let reader: TestService.Reader
    /// Where the reader's socket is.
    let path: String

    /// Lays the finger on the reader, as soon as that is open. Every touch is a little different.
    func touch(_ finger: Finger = .mine, number: UInt64) async throws {
        let (reader, path) = (reader, path)
        try await blocking {
            switch reader {
            case .image:
                let skin = finger == .mine ? Self.mine : Self.another
                try VirtualSocket.send(skin.image(Touch(seed: number)), to: path)
            case .device, .storage:
                let id = finger == .mine ? "mine" : "another"
                _ = try VirtualSocket.command("SCAN \(id)", to: path)
            }
        }
    }

    private static let mine = SyntheticFinger(seed: 2)
    private static let another = SyntheticFinger(seed: 3)
}

/// Enrols a finger with so many touches as the reader wants; each is made when it waits for one.
func enrol(
    _ finger: String, with hand: Hand, touches: Hand.Finger = .mine, by client: TestClient,
    user: String = ""
) async throws {
    let enrolled = Task {
        do {
            try await client.enrol(finger, user: user)
        } catch {
            await client.stopWaiting()
            throw error
        }
    }
    var number: UInt64 = 0
    while case .enrolled(_, let done, let total, _)? = await client.nextStage(), done < total {
        try await hand.touch(touches, number: number)
        number += 1
    }
    try await enrolled.value
}

extension TestService {
    /// A finger for one of the daemon's readers.
    func hand(on reader: Reader) -> Hand {
        Hand(reader: reader, path: scratch.file(reader.rawValue))
    }
}
