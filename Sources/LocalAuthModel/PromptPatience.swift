// SPDX-License-Identifier: Apache-2.0

/// Slows down those who ask again and again for a finger that nobody gives.
///
/// A program that asks every few seconds all night would keep the sensor lit, and the reader from
/// others; one that asks again whenever it is sent away would wear the person out. It is not
/// refused: the person may just have come back, or to another mind. It waits, longer each time.
package struct PromptPatience: Sendable {
    /// Who asks: a user's program, as far as it is known.
    package struct Asker: Hashable, Sendable {
        package let user: UserID
        package let program: CallerProgram?

        package init(user: UserID, program: CallerProgram?) {
            self.user = user
            self.program = program
        }
    }

    private struct Record: Sendable {
        var failures: UInt32
        var last: BootTime
    }

    /// Prompts in a row that may lead to nothing before the next one has to wait.
    package static let tolerated: UInt32 = 3
    /// After so long without asking, nothing is held against anybody.
    package static let memory = Duration.seconds(600)
    /// So many askers are remembered.
    package static let limit = 64

    private let firstPause: Duration
    private let longestPause: Duration
    private var records: [Asker: Record] = [:]

    /// Each pause is twice the one before, from the first to the longest.
    package init(
        firstPause: Duration = .seconds(2), longestPause: Duration = .seconds(30)
    ) {
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// Whether anything is held against the user's programs.
    package func remembers(_ user: UserID) -> Bool { records.keys.contains { $0.user == user } }

    /// A prompt ran out or was sent away, and nobody had touched a reader or typed anything.
    package mutating func noteVain(_ asker: Asker, at now: BootTime) {
        records = records.filter { now.since($0.value.last) < Self.memory }
        let failures = min((records[asker]?.failures ?? 0) + 1, 100)
        records[asker] = Record(failures: failures, last: now)
        while records.count > Self.limit,
            let oldest = records.min(by: { $0.value.last < $1.value.last })
        {
            records[oldest.key] = nil
        }
    }

    /// Somebody is there.
    package mutating func noteTouch(by user: UserID) {
        records = records.filter { $0.key.user != user }
    }

    /// How long the next prompt has to wait; counted from the last one, so that a program
    /// that asks rarely never waits.
    package func pause(for asker: Asker, at now: BootTime) -> Duration {
        guard let record = records[asker], record.failures >= Self.tolerated else { return .zero }
        let doublings = min(record.failures - Self.tolerated, 16)
        let pause = min(firstPause * (1 << Int(doublings)), longestPause)
        return max(.zero, pause - now.since(record.last))
    }
}
