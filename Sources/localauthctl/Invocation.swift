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

/// What `enroll` was told.
struct EnrolmentChoice: Equatable {
    let finger: String
    var user = ""
    var reader: ObjectPath?
    var discardsLeftovers = false
}

/// What to do.
enum Command: Equatable {
    case can(PolicyChoice)
    case evaluate(EvaluationChoice)
    case unlock(timeout: UInt32?)
    case agent
    case enrol(EnrolmentChoice)
    case list(user: String)
    /// No fingers are all of them, as on the bus.
    case delete(fingers: [String], user: String)
    case status
    case watch
    /// 0 is everything that is kept.
    case history(user: String, limit: UInt32)
    case resetLockout(user: String)
    case eraseReader(ObjectPath)
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
            self = .enrol(
                EnrolmentChoice(
                    finger: finger, user: user, reader: try line.reader,
                    discardsLeftovers: line.flags.contains(.discardLeftovers)))
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
        case .eraseReader:
            guard let reader = try line.reader else {
                throw Invocation.Failure(message: "erase-reader takes --reader")
            }
            self = .eraseReader(reader)
        }
    }
}
