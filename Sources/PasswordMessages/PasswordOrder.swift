// SPDX-License-Identifier: Apache-2.0

/// What the daemon tells the program that checks passwords: one byte.
package enum PasswordOrder: UInt8, CaseIterable, Sendable {
    /// Here is what was entered: the descriptor that comes with this message. The first one begins
    /// the check, each further one answers a question.
    case entry = 0x65

    /// No message is longer.
    package static let longestMessage = 1

    package var message: [UInt8] { [rawValue] }

    /// `nil` for anything else.
    package init?(message: [UInt8]) {
        guard message.count == 1, let byte = message.first else { return nil }
        self.init(rawValue: byte)
    }
}
