// SPDX-License-Identifier: Apache-2.0

/// The daemon's command line.
struct Options: Equatable {
    var config: String?
    var stateDirectory = "/var/lib/localauth"
    var printDirectory = "/var/lib/fprint"
    var pamHelper = "/usr/libexec/localauth-pam-helper"
    /// Where PAM's services are; `nil`: where PAM looks for them.
    var pamDirectory: String?
    var idleExit: UInt32?
    var isVerbose = false
    var wantsVersion = false
    var wantsHelp = false

    static let defaultConfig = "/etc/localauth/localauthd.conf"

    static let help = """
        Usage: localauthd [OPTION]...
        Answers who is at the fingerprint reader: the daemon behind org.example.LocalAuth.

          --config FILE        configuration (default: \(defaultConfig))
          --state-dir DIR      lockouts, histories (default: /var/lib/localauth)
          --print-dir DIR      prints, in fprintd's layout (default: /var/lib/fprint)
          --pam-helper FILE    checks passwords (default: /usr/libexec/localauth-pam-helper)
          --pam-dir DIR        PAM's services (default: /etc/pam.d and where else PAM looks)
          --idle-exit SECONDS  leave after so long without work; 0: never
          --verbose            log more
          --version            print the version and exit
          --help               print this and exit

        It uses the system bus (DBUS_SYSTEM_BUS_ADDRESS). Exit status: 0 after work or when
        another instance has the name, 1 when the bus is lost, 2 for a wrong command line,
        78 for a wrong configuration.

        """

    /// What is wrong with a command line, in words.
    struct Failure: Error, Equatable { let message: String }

    /// Parses the arguments behind the program's name.
    init(_ arguments: some Collection<String>) throws(Failure) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            func value() throws(Failure) -> String {
                if parts.count == 2 { return String(parts[1]) }
                guard let next = rest.popFirst() else {
                    throw Failure(message: "\(name) needs a value")
                }
                return next
            }
            switch name {
            case "--config": config = try value()
            case "--state-dir": stateDirectory = try value()
            case "--print-dir": printDirectory = try value()
            case "--pam-helper": pamHelper = try value()
            case "--pam-dir": pamDirectory = try value()
            case "--idle-exit":
                guard let seconds = UInt32(try value()), seconds <= 86_400 else {
                    throw Failure(message: "--idle-exit takes seconds, from 0 to 86400")
                }
                idleExit = seconds
            case "--verbose" where parts.count == 1: isVerbose = true
            case "--version" where parts.count == 1: wantsVersion = true
            case "--help" where parts.count == 1: wantsHelp = true
            default: throw Failure(message: "unknown argument \(argument)")
            }
        }
    }
}
