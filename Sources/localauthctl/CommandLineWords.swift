// SPDX-License-Identifier: Apache-2.0

/// The commands as they are typed.
enum CommandName: String, CaseIterable {
    case can
    case evaluate
    case unlock
    case agent
    case enroll
    case list
    case delete
    case status
    case watch
    case history
    case resetLockout = "reset-lockout"
    case eraseReader = "erase-reader"

    /// The options that only some commands have.
    var options: Set<OptionName> {
        switch self {
        case .can: [.policy, .noPrompt]
        case .evaluate:
            [
                .policy, .reason, .timeout, .token, .user, .fallbackTitle, .cancelTitle,
                .noInteraction, .reuse, .challenge, .requiredState, .noPrompt,
            ]
        case .unlock: [.timeout, .noPrompt]
        case .enroll: [.user, .reader, .discardLeftovers, .noPrompt]
        case .list, .resetLockout: [.user]
        case .history: [.user, .limit]
        case .delete: [.all, .user, .noPrompt]
        case .eraseReader: [.reader, .noPrompt]
        case .agent, .status, .watch: []
        }
    }

    var takesFingers: Bool {
        switch self {
        case .enroll, .delete: true
        case .can, .evaluate, .unlock, .agent, .list, .status, .watch, .history, .resetLockout,
            .eraseReader:
            false
        }
    }
}

/// The options as they are typed, without the dashes.
enum OptionName: String, CaseIterable {
    case policy, reason, timeout, token, user, reader, limit, all, json, quiet, help, version
    case fallbackTitle = "fallback-title"
    case cancelTitle = "cancel-title"
    case noInteraction = "no-interaction"
    case reuse, challenge
    case requiredState = "required-state"
    case noPrompt = "no-prompt"
    case discardLeftovers = "discard-leftovers"

    var takesValue: Bool {
        switch self {
        case .policy, .reason, .timeout, .token, .user, .reader, .limit, .fallbackTitle,
            .cancelTitle, .reuse, .challenge, .requiredState:
            true
        case .all, .json, .quiet, .help, .version, .noInteraction, .noPrompt, .discardLeftovers:
            false
        }
    }

    /// Whether every command has it.
    var isCommon: Bool {
        switch self {
        case .json, .quiet, .help, .version: true
        case .policy, .reason, .timeout, .token, .user, .reader, .limit, .all, .fallbackTitle,
            .cancelTitle, .reuse, .challenge, .requiredState, .noInteraction, .noPrompt,
            .discardLeftovers:
            false
        }
    }

    /// By its long or short form.
    fileprivate init?(argument: Substring) {
        switch argument {
        case "-h": self = .help
        case "-q": self = .quiet
        default:
            guard argument.hasPrefix("--") else { return nil }
            self.init(rawValue: String(argument.dropFirst(2)))
        }
    }
}

/// A command line taken apart: options with and without a value, and the other words in order.
struct CommandLineWords {
    private(set) var values: [OptionName: String] = [:]
    private(set) var flags: Set<OptionName> = []
    private(set) var words: [String] = []

    /// All options that were given, in a fixed order.
    var given: [OptionName] {
        OptionName.allCases.filter { flags.contains($0) || values[$0] != nil }
    }

    init(_ arguments: some Collection<String>) throws(Invocation.Failure) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                words += rest
                return
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                words.append(argument)
                continue
            }
            let parts = argument.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = OptionName(argument: parts[0]) else {
                throw Invocation.Failure(message: "there is no option \(parts[0])")
            }
            switch (option.takesValue, parts.count) {
            case (true, 2): values[option] = String(parts[1])
            case (true, _):
                guard let next = rest.popFirst() else {
                    throw Invocation.Failure(message: "--\(option.rawValue) needs a value")
                }
                values[option] = next
            case (false, 2):
                throw Invocation.Failure(message: "--\(option.rawValue) takes no value")
            case (false, _): flags.insert(option)
            }
        }
    }
}
