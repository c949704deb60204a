// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding

/// What suffices; the numbers are those of `EvaluatePolicy`.
enum PolicyChoice: UInt32, CaseIterable {
    case biometrics = 1
    case any = 2

    var name: String {
        switch self {
        case .biometrics: "biometrics"
        case .any: "any"
        }
    }

    /// By name or number.
    init?(_ text: String) {
        let policy = Self.allCases.first { $0.name == text || String($0.rawValue) == text }
        guard let policy else { return nil }
        self = policy
    }
}

/// What `evaluate` was told.
struct EvaluationChoice: Equatable {
    var policy = PolicyChoice.biometrics
    var reason = "confirm that it is you"
    var timeout: UInt32?
    var token: String?
    var user: String?
    var fallbackTitle: String?
    var cancelTitle: String?
    var isInteractionForbidden = false
    var reuse: UInt32?
    var challenge: [UInt8]?
    var requiredState: [UInt8]?
}

/// What to do.
enum Command: Equatable {
    case can(PolicyChoice)
    case evaluate(EvaluationChoice)
    case unlock(timeout: UInt32?)
    case agent
    case enrol(finger: String, user: String, reader: ObjectPath?)
    case list(user: String)
    /// No fingers are all of them, as on the bus.
    case delete(fingers: [String], user: String)
    case status
    case watch
    /// 0 is everything that is kept.
    case history(user: String, limit: UInt32)
    case resetLockout(user: String)
}

/// How to tell.
enum OutputFormat: Equatable {
    case plain
    case json
    /// Only errors.
    case quiet
}

/// The command line, understood.
enum Invocation: Equatable {
    /// `prompts`: where prompts can be shown on the terminal, they may be.
    case run(Command, OutputFormat, prompts: Bool = true)
    case help(CommandName?)
    case version

    /// What is wrong with a command line, in words.
    struct Failure: Error, Equatable { let message: String }

    /// Parses the arguments behind the program's name.
    init(_ arguments: some Collection<String>) throws(Failure) {
        let line = try CommandLineWords(arguments)
        var words = line.words[...]
        let word = words.popFirst()
        let name = word.flatMap { CommandName(rawValue: $0) }
        if line.flags.contains(.help) {
            self = .help(name)
            return
        }
        if line.flags.contains(.version) {
            self = .version
            return
        }
        guard let word else { throw Failure(message: "a command is needed") }
        guard let name else { throw Failure(message: "there is no command \(word)") }
        for option in line.given where !name.options.contains(option) && !option.isCommon {
            throw Failure(message: "\(name.rawValue) has no option --\(option.rawValue)")
        }
        guard words.isEmpty || name.takesFingers else {
            throw Failure(message: "\(name.rawValue) does not take \(words[words.startIndex])")
        }
        let format = try line.format
        guard name != .agent || format == .plain else {
            throw Failure(message: "agent has neither --json nor --quiet")
        }
        self = .run(
            try Command(name, line, Array(words)), format,
            prompts: !line.flags.contains(.noPrompt))
    }
}

extension Command {
    fileprivate init(
        _ name: CommandName, _ line: CommandLineWords, _ words: [String]
    ) throws(Invocation.Failure) {
        let user = try line.user ?? ""
        switch name {
        case .can: self = .can(try line.policy ?? .biometrics)
        case .evaluate: self = .evaluate(try line.evaluation)
        case .unlock: self = .unlock(timeout: try line.timeout)
        case .agent: self = .agent
        case .enroll:
            guard let finger = words.first, words.count == 1 else {
                throw Invocation.Failure(message: "enroll takes one finger")
            }
            try FingerNames.check(words)
            self = .enrol(finger: finger, user: user, reader: try line.reader)
        case .list: self = .list(user: user)
        case .delete:
            guard words.isEmpty == line.flags.contains(.all) else {
                throw Invocation.Failure(message: "delete takes fingers, or --all for every finger")
            }
            try FingerNames.check(words)
            self = .delete(fingers: words, user: user)
        case .status: self = .status
        case .watch: self = .watch
        case .history: self = .history(user: user, limit: try line.limit ?? 0)
        case .resetLockout: self = .resetLockout(user: user)
        }
    }
}

extension CommandLineWords {
    fileprivate var format: OutputFormat {
        get throws(Invocation.Failure) {
            switch (flags.contains(.json), flags.contains(.quiet)) {
            case (false, false): return .plain
            case (true, false): return .json
            case (false, true): return .quiet
            case (true, true): throw Invocation.Failure(message: "either --json or --quiet")
            }
        }
    }

    fileprivate var policy: PolicyChoice? {
        get throws(Invocation.Failure) {
            guard let text = values[.policy] else { return nil }
            guard let policy = PolicyChoice(text) else {
                throw Invocation.Failure(message: "--policy takes biometrics or any, not \(text)")
            }
            return policy
        }
    }

    /// An empty name means oneself on the bus; here it is more likely a variable that was not set.
    fileprivate var user: String? {
        get throws(Invocation.Failure) {
            guard values[.user] != "" else {
                throw Invocation.Failure(message: "--user takes the name of an account")
            }
            return values[.user]
        }
    }

    fileprivate var reader: ObjectPath? {
        get throws(Invocation.Failure) {
            guard let text = values[.reader] else { return nil }
            guard let path = ObjectPath(text) else {
                throw Invocation.Failure(
                    message: "--reader takes an object path as 'status' shows it, not \(text)")
            }
            return path
        }
    }

    fileprivate var limit: UInt32? {
        get throws(Invocation.Failure) {
            guard let text = values[.limit] else { return nil }
            guard let limit = UInt32(text), limit > 0 else {
                throw Invocation.Failure(message: "--limit takes a number, from 1")
            }
            return limit
        }
    }

    fileprivate var timeout: UInt32? {
        get throws(Invocation.Failure) {
            guard let text = values[.timeout] else { return nil }
            guard let seconds = UInt32(text), (1...170).contains(seconds) else {
                throw Invocation.Failure(message: "--timeout takes seconds, from 1 to 170")
            }
            return seconds
        }
    }

    fileprivate var reuse: UInt32? {
        get throws(Invocation.Failure) {
            guard let text = values[.reuse] else { return nil }
            guard let seconds = UInt32(text), seconds <= 300 else {
                throw Invocation.Failure(message: "--reuse takes seconds, at most 300")
            }
            return seconds
        }
    }

    /// Hexadecimal digits, two for each byte.
    fileprivate func bytes(
        _ option: OptionName, _ sizes: ClosedRange<Int>
    ) throws(Invocation.Failure) -> [UInt8]? {
        guard let text = values[option] else { return nil }
        guard let bytes = [UInt8](hexadecimal: text), sizes.contains(bytes.count) else {
            throw Invocation.Failure(
                message: "--\(option.rawValue) takes hexadecimal digits, "
                    + "of \(sizes.lowerBound) to \(sizes.upperBound) bytes")
        }
        return bytes
    }

    fileprivate var evaluation: EvaluationChoice {
        get throws(Invocation.Failure) {
            var choice = EvaluationChoice()
            choice.policy = try policy ?? choice.policy
            choice.reason = values[.reason] ?? choice.reason
            choice.token = values[.token]
            choice.user = try user
            choice.timeout = try timeout
            choice.fallbackTitle = values[.fallbackTitle]
            choice.cancelTitle = values[.cancelTitle]
            choice.isInteractionForbidden = flags.contains(.noInteraction)
            choice.reuse = try reuse
            choice.challenge = try bytes(.challenge, 16...64)
            choice.requiredState = try bytes(.requiredState, 1...64)
            return choice
        }
    }
}

extension [UInt8] {
    /// Two digits a byte, and nothing else.
    init?(hexadecimal text: String) {
        self = []
        var high: UInt8?
        for character in text.utf8 {
            guard let digit = Unicode.Scalar(character).hexadecimalDigit else { return nil }
            if let first = high {
                append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard high == nil else { return nil }
    }
}

extension Unicode.Scalar {
    fileprivate var hexadecimalDigit: UInt8? {
        switch self {
        case "0"..."9": UInt8(value - 0x30)
        case "a"..."f": UInt8(value - 0x61 + 10)
        case "A"..."F": UInt8(value - 0x41 + 10)
        default: nil
        }
    }
}
