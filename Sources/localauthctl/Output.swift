// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

/// Tells people (plain lines) or programs (one JSON object a line) what happens.
///
/// Every text on its way out passes here, and nothing gets to a terminal but what `TerminalLine`
/// or `JSON` lets through.
@BusQueue final class Output {
    private let format: OutputFormat
    private var results = OutputStream(descriptor: 1)
    private var errors = OutputStream(descriptor: 2)
    private var lastHint: String?

    init(_ format: OutputFormat) { self.format = format }

    /// Whether nobody reads the results any more.
    var isUnread: Bool { results.failure != nil }

    /// Waits for no reader from now on: somebody wants the end now.
    func hurry() {
        results.isHurried = true
        errors.isHurried = true
    }

    /// The exit status when the work itself ended with `code`.
    func finalCode(_ code: ExitCode) -> ExitCode {
        code == .success && results.isLossy ? .notWritten : code
    }

    /// What was asked for: on stdout.
    func result(_ json: @autoclosure () -> JSON, _ lines: @autoclosure () -> [String]) {
        switch format {
        case .plain: for line in lines() { results.write(TerminalLine(line).text + "\n") }
        case .json: results.write(json().text + "\n")
        case .quiet: break
        }
    }

    /// What happens meanwhile: for people on stderr, for programs on stdout.
    func event(_ json: @autoclosure () -> JSON, _ line: @autoclosure () -> String?) {
        switch format {
        case .plain: if let line = line() { errors.write(TerminalLine(line).text + "\n") }
        case .json: results.write(json().text + "\n")
        case .quiet: break
        }
    }

    /// What the person is to do: on stderr, and only when it is something else than before.
    func hint(_ line: String) {
        guard format == .plain, line != lastHint else { return }
        lastHint = line
        errors.write(TerminalLine(line).text + "\n")
    }

    /// Why there is no result: for people on stderr, for programs on stdout.
    func failure(_ error: BusError, _ code: ExitCode) {
        guard format != .json else {
            let json: JSON = .members([
                "type": "error",
                "error": .string(ServiceError(error.name)?.rawValue ?? error.name.rawValue),
                "message": .string(error.message),
                "exit-code": .integer(Int64(code.rawValue)),
            ])
            results.write(json.text + "\n")
            return
        }
        let name = ServiceError(error.name)?.rawValue ?? error.name.rawValue
        let what = code == .notReachable ? "The service cannot be reached: " : ""
        let line = "localauthctl: \(what)\(error.message) (\(name))"
        errors.write(TerminalLine(line).text + "\n")
    }
}
