// SPDX-License-Identifier: Apache-2.0

package import GLibBinding
package import LocalAuthModel

/// What the administrator has set in `localauthd.conf`. Every key may be left out; one that is
/// not known, or has a value out of range, is an error: a mistyped security setting must not pass
/// as set.
package struct Configuration: Sendable {
    /// Who decides what callers may do.
    package enum AuthorityKind: String, CaseIterable, Sendable { case polkit, local }
    /// Who knows where callers sit.
    package enum SessionKind: String, CaseIterable, Sendable { case logind, none }

    /// What is wrong with a configuration, in words.
    package struct Failure: Error, Hashable, Sendable {
        package let message: String
    }

    package var service = ServiceSettings()
    package var authority = AuthorityKind.polkit
    package var sessions = SessionKind.logind
    /// Seconds without work after which the daemon leaves; 0 means never.
    package var idleExit: UInt32 = 60
    /// Who is asked about passwords.
    package var pamService = PAMServiceName.usual

    package init() {}

    package init(_ file: KeyFile) throws(Failure) {
        var values = Values(file)
        service.defaultTimeout = .seconds(
            Int64(try values.number("Evaluation", "DefaultTimeout", in: 1...170) ?? 20))
        service.requiresAgent = try values.flag("Evaluation", "RequireAgent") ?? false
        var rules = LockoutRules()
        if let misses = try values.number("Lockout", "MissesPerEvaluation", in: 1...10) {
            rules.missesPerEvaluation = misses
        }
        if let misses = try values.number("Lockout", "MissesBeforeLockout", in: 1...20) {
            rules.missesBeforeLockout = misses
        }
        let recovery = try values.choice("Lockout", "Recovery", of: ["password", "timed"])
        if recovery == "timed" { rules.recovery = .timed }
        service.lockout = rules
        let authorities = AuthorityKind.allCases.map(\.rawValue)
        if let name = try values.choice("Authorization", "Authority", of: authorities) {
            authority = AuthorityKind(rawValue: name) ?? .polkit
        }
        let kinds = SessionKind.allCases.map(\.rawValue)
        if let name = try values.choice("Authorization", "Sessions", of: kinds) {
            sessions = SessionKind(rawValue: name) ?? .logind
        }
        if let text = values.take("Password", "PAMService") {
            guard let name = PAMServiceName(text) else {
                throw Failure(
                    message: "[Password] PAMService must be the name of a file in /etc/pam.d, of "
                        + "lower-case letters, digits, - _ and .")
            }
            pamService = name
        }
        if let seconds = try values.number("Daemon", "IdleExit", in: 0...86_400) {
            idleExit = seconds
        }
        try values.finish()
    }
}

/// The values that have not been taken yet.
private struct Values {
    private var file: KeyFile

    init(_ file: KeyFile) { self.file = file }

    mutating func take(_ group: String, _ key: String) -> String? {
        defer { file[group, key] = nil }
        return file[group, key]
    }

    mutating func number(
        _ group: String, _ key: String, in range: ClosedRange<UInt32>
    ) throws(Configuration.Failure) -> UInt32? {
        guard let text = take(group, key) else { return nil }
        guard let number = UInt32(text), range.contains(number) else {
            throw failure(group, key, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func flag(_ group: String, _ key: String) throws(Configuration.Failure) -> Bool? {
        try choice(group, key, of: ["true", "false"]).map { $0 == "true" }
    }

    mutating func choice(
        _ group: String, _ key: String, of names: [String]
    ) throws(Configuration.Failure) -> String? {
        guard let text = take(group, key) else { return nil }
        guard names.contains(text) else {
            throw failure(group, key, "one of " + names.joined(separator: ", "))
        }
        return text
    }

    /// Nothing unknown may be left.
    func finish() throws(Configuration.Failure) {
        for (group, values) in file.groups.sorted(by: { $0.key < $1.key }) {
            guard let key = values.keys.min() else { continue }
            throw Configuration.Failure(message: "[\(group)] \(key) is not known")
        }
    }

    private func failure(_ group: String, _ key: String, _ rule: String) -> Configuration.Failure {
        Configuration.Failure(message: "[\(group)] \(key) must be \(rule)")
    }
}
