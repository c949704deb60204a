// SPDX-License-Identifier: Apache-2.0

/// The connections that something is being asked about, so that no answer is kept about one that
/// has left the bus meanwhile: it would be kept for ever.
struct OpenQuestions {
    private var open: [String: (count: Int, isGone: Bool)] = [:]

    mutating func begin(_ connection: String) {
        open[connection, default: (0, false)].count += 1
    }

    mutating func noteGone(_ connection: String) { open[connection]?.isGone = true }

    /// Whether the connection was there all the time.
    mutating func end(_ connection: String) -> Bool {
        guard var entry = open[connection] else { return false }
        entry.count -= 1
        open[connection] = entry.count > 0 ? entry : nil
        return !entry.isGone
    }
}
