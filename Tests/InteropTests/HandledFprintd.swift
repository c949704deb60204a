// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import TestKit
import Testing

/// fprintd with one virtual reader, and a finger for it.
@BusQueue final class HandledFprintd {
    let hand: Hand
    private let fprintd: Fprintd
    private let scratch: Scratch

    /// Starts it on a directory of prints. Unless it is given a socket, its reader has one of its
    /// own; for the prints it is the same reader as any of this kind.
    init(
        _ reader: TestService.Reader, on bus: PrivateBus, prints: String, socket: String? = nil
    ) async throws {
        scratch = try Scratch()
        let socket = socket ?? scratch.file("reader")
        hand = Hand(reader: reader, path: socket)
        let kinds = TestService.Reader.allCases.map(\.rawValue).joined(separator: ":")
        fprintd = try await Fprintd(
            on: bus, prints: prints,
            environment: [
                "FP_DRIVERS_WHITELIST": kinds, "FP_DRIVERS_ALLOWLIST": kinds,
                reader.variable: socket,
            ])
    }

    /// Enrols a finger of root's; returns what it says in the end.
    func enrol(_ finger: String, touches: Hand.Finger = .mine) async throws -> String? {
        let hand = hand
        return try await fprintd.whileClaimed {
            try await fprintd.enrol(finger) { try await hand.touch(touches, number: $0) }.last
        }
    }

    /// How many touches it wants for that. It must say nothing before the first, for some seconds.
    func touchesToEnrol(_ finger: String, patience seconds: Int) async throws -> Int {
        let (hand, fprintd) = (hand, fprintd)
        return try await fprintd.whileClaimed {
            var touches = 0
            let said = try await fprintd.enrol(finger) { number in
                if number == 0 { try await Task.sleep(for: .seconds(seconds)) }
                let isUntouched = fprintd.wordCount == touches
                #expect(isUntouched, "it said more than it was touched")
                try await hand.touch(number: number)
                touches += 1
            }
            #expect(said.last == "enroll-completed")
            return touches
        }
    }

    /// Has one touch compared with a finger of root's; returns what it says.
    func verify(
        _ finger: String, touch: Hand.Finger = .mine, number: UInt64
    ) async throws -> String? {
        let hand = hand
        return try await fprintd.whileClaimed {
            try await fprintd.verify(finger) { _ in try await hand.touch(touch, number: number) }
                .first
        }
    }

    /// The fingers of root's that it knows.
    func list() async throws -> [String] { try await fprintd.list() }

    /// Deletes a finger of root's.
    func delete(_ finger: String) async throws {
        try await fprintd.whileClaimed { try await fprintd.delete(finger) }
    }
}
