// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

/// The values of a description that are of the type they should be.
struct PromptValues {
    private let values: [String: BusValue]

    init(_ values: [String: BusValue]) { self.values = values }

    func text(_ key: PromptKey) -> String? {
        guard case .string(let text)? = values[key.rawValue] else { return nil }
        return text
    }

    func number(_ key: PromptKey) -> UInt32? {
        guard case .uint32(let number)? = values[key.rawValue] else { return nil }
        return number
    }

    func flag(_ key: PromptKey) -> Bool? {
        guard case .bool(let flag)? = values[key.rawValue] else { return nil }
        return flag
    }

    /// What is to be entered; it is shown only where that is said.
    var question: PromptText.Question? {
        guard let text = text(.question), !text.isEmpty else { return nil }
        return PromptText.Question(text: text, isEchoed: flag(.echo) ?? false)
    }
}
