// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import localauthd

@Suite struct `The daemon's command line` {
    @Test func `may be empty`() throws {
        let options = try Options([])
        #expect(options.config == nil)
        #expect(options.stateDirectory == "/var/lib/localauth")
        #expect(options.printDirectory == "/var/lib/fprint")
        #expect(options.pamHelper == "/usr/libexec/localauth-pam-helper")
        #expect(options.pamDirectory == nil)
        #expect(options.idleExit == nil)
        #expect(!options.isVerbose && !options.wantsHelp && !options.wantsVersion)
    }

    @Test func `takes values behind a space or an equals sign`() throws {
        let spaced = try Options([
            "--config", "/c", "--state-dir", "/s", "--print-dir", "/p", "--pam-helper",
            "/h", "--pam-dir", "/d", "--idle-exit", "7", "--verbose",
        ])
        let joined = try Options([
            "--config=/c", "--state-dir=/s", "--print-dir=/p", "--pam-helper=/h",
            "--pam-dir=/d", "--idle-exit=7", "--verbose",
        ])
        #expect(spaced == joined)
        #expect(spaced.config == "/c")
        #expect(spaced.stateDirectory == "/s")
        #expect(spaced.printDirectory == "/p")
        #expect(spaced.pamHelper == "/h")
        #expect(spaced.pamDirectory == "/d")
        #expect(spaced.idleExit == 7)
        #expect(spaced.isVerbose)
        #expect(try Options(["--config=a=b"]).config == "a=b")
        #expect(try Options(["--version", "--help"]).wantsVersion)
    }

    @Test(arguments: [
        ["x"], ["-v"], ["--config"], ["--idle-exit", "-1"], ["--idle-exit=86401"],
        ["--idle-exit="], ["--idle-exit", "1s"], ["--verbose=1"], ["--help="], ["--Config", "x"],
        [""], ["--"], ["--config", "a", "b"],
    ])
    func `is refused with a word about what is wrong`(arguments: [String]) {
        let failure = #expect(throws: Options.Failure.self) { try Options(arguments) }
        #expect(failure?.message.isEmpty == false)
    }

    @Test(arguments: [
        "--config", "--state-dir", "--print-dir", "--pam-helper", "--pam-dir", "--idle-exit",
        "--verbose",
    ])
    func `is explained by its help`(option: String) { #expect(Options.help.contains(option)) }
}
