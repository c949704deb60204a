// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import LocalAuthService
import GLibBinding
import SystemSupport
import Testing

@Suite struct `The configuration` {
    private static func parse(_ text: String) throws -> Configuration {
        try Configuration(try KeyFile(parsing: text))
    }

    @Test(arguments: ["", "# nothing\n", "[Evaluation]\n", "[Unknown]\n"])
    func `has a default for every key`(text: String) throws {
        let configuration = try Self.parse(text)
        #expect(configuration.service.defaultTimeout == .seconds(20))
        #expect(!configuration.service.requiresAgent)
        #expect(configuration.service.lockout == LockoutRules())
        #expect(configuration.service.lockout.missesPerEvaluation == 3)
        #expect(configuration.service.lockout.missesBeforeLockout == 5)
        #expect(configuration.service.lockout.recovery == .password)
        #expect(configuration.authority == .polkit)
        #expect(configuration.sessions == .logind)
        #expect(configuration.idleExit == 60)
    }

    @Test func `takes every key`() throws {
        let configuration = try Self.parse(
            """
            [Evaluation]
            DefaultTimeout=170
            RequireAgent=true
            [Lockout]
            MissesPerEvaluation=10
            MissesBeforeLockout=20
            Recovery=timed
            [Authorization]
            Authority=local
            Sessions=none
            [Password]
            PAMService=our-own
            [Daemon]
            IdleExit=0
            """)
        #expect(configuration.service.defaultTimeout == .seconds(170))
        #expect(configuration.service.requiresAgent)
        #expect(configuration.service.lockout.missesPerEvaluation == 10)
        #expect(configuration.service.lockout.missesBeforeLockout == 20)
        #expect(configuration.service.lockout.recovery == .timed)
        #expect(configuration.authority == .local)
        #expect(configuration.sessions == .none)
        #expect(configuration.idleExit == 0)
        #expect(configuration.pamService.rawValue == "our-own")
    }

    @Test(arguments: [
        ("Evaluation", "DefaultTimeout", "0"), ("Evaluation", "DefaultTimeout", "171"),
        ("Evaluation", "DefaultTimeout", "-1"), ("Evaluation", "DefaultTimeout", "20s"),
        ("Evaluation", "DefaultTimeout", ""), ("Evaluation", "DefaultTimeout", "4294967297"),
        ("Evaluation", "RequireAgent", "yes"), ("Evaluation", "RequireAgent", "True"),
        ("Evaluation", "RequireAgent", ""), ("Lockout", "MissesPerEvaluation", "0"),
        ("Lockout", "MissesPerEvaluation", "11"), ("Lockout", "MissesBeforeLockout", "0"),
        ("Lockout", "MissesBeforeLockout", "21"), ("Lockout", "Recovery", "never"),
        ("Authorization", "Authority", "none"), ("Authorization", "Sessions", ""),
        ("Password", "PAMService", ""), ("Password", "PAMService", "/etc/passwd"),
        ("Password", "PAMService", ".."), ("Password", "PAMService", "LocalAuth"),
        ("Daemon", "IdleExit", "86401"), ("Daemon", "Unknown", "1"),
        ("evaluation", "DefaultTimeout", "20"), ("Lockout", "defaulttimeout", "20"),
        ("Other", "Key", ""),
    ])
    func `refuses what it does not know, and says where`(
        group: String, key: String, value: String
    ) throws {
        let file = try KeyFile(parsing: "[\(group)]\n\(key)=\(value)\n")
        let failure = #expect(throws: Configuration.Failure.self) { try Configuration(file) }
        #expect(failure?.message.hasPrefix("[\(group)] \(key) ") == true)
    }
}
