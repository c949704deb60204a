// SPDX-License-Identifier: Apache-2.0

/// What `--help` prints.
enum Help {
    static func text(_ command: CommandName?) -> String {
        guard let command else { return overview }
        return "Usage: localauthctl \(synopsis(command))\n\n\(details(command))\n\n\(common)\n"
    }

    private static func synopsis(_ command: CommandName) -> String {
        switch command {
        case .can: "can [--policy biometrics|any] [--no-prompt]"
        case .evaluate: "evaluate [OPTION]..."
        case .unlock: "unlock [--timeout SECONDS] [--no-prompt]"
        case .agent: "agent"
        case .enroll:
            "enroll FINGER [--user NAME] [--reader PATH] [--discard-leftovers] [--no-prompt]"
        case .list: "list [--user NAME]"
        case .delete: "delete FINGER...|--all [--user NAME] [--no-prompt]"
        case .status: "status"
        case .watch: "watch"
        case .history: "history [--user NAME] [--limit NUMBER]"
        case .resetLockout: "reset-lockout [--user NAME]"
        case .eraseReader: "erase-reader --reader PATH [--no-prompt]"
        }
    }

    private static func summary(_ command: CommandName) -> String {
        switch command {
        case .can: "say whether 'evaluate' could be started now"
        case .evaluate: "ask the user for a finger, or for the password"
        case .unlock: "end a lockout by the password"
        case .agent: "show this session's prompts on the terminal, until Ctrl-C"
        case .enroll: "enrol a finger"
        case .list: "list the enrolled fingers"
        case .delete: "delete enrolled fingers"
        case .status: "show the service, its readers and what is enrolled"
        case .watch: "show what happens, until Ctrl-C"
        case .history: "show who asked for what, and what came of it"
        case .resetLockout: "end a lockout (administrator)"
        case .eraseReader: "empty a reader's own memory (administrator)"
        }
    }

    private static func details(_ command: CommandName) -> String {
        switch command {
        case .can:
            """
            Says whether 'evaluate' could be started now; the user is not asked for anything.
            Exit status 0 means yes, 1 no.

              --policy POLICY    biometrics (or 1, the default): a finger;
                                 any (or 2): a finger or the password
              --no-prompt        as 'evaluate --no-prompt'
            """
        case .evaluate:
            """
            Asks the user for a finger, or for the password. Exit status 0 means that it is the
            user, and nothing else does. Ctrl-C ends the question. On a terminal the question is
            shown there, unless the session has an agent that shows it, and the password can be
            typed at any moment.

              --policy POLICY    biometrics (or 1, the default): a finger;
                                 any (or 2): a finger or the password
              --reason TEXT      what the user is told (default: "confirm that it is you")
              --timeout SECONDS  give up after so long, 1 to 170 (default: the service's, 20)
              --token TEXT       name the evaluation, at most 64 bytes (default: at random)
              --user NAME        ask for another user's finger
              --fallback-title TEXT
                                 the title of the fallback button; empty: no such button
              --cancel-title TEXT
                                 the title of the cancel button
              --no-interaction   succeed only where nobody need be asked
              --reuse SECONDS    take a success that is no older, at most 300
              --challenge HEX    ask for a ticket that is bound to these 16 to 64 bytes
              --required-state HEX
                                 fail unless this is still the domain state
              --no-prompt        show nothing on this terminal
            """
        case .unlock:
            """
            Ends a lockout of fingerprints by the password. Without a lockout nobody is asked.

              --timeout SECONDS  give up after so long, 1 to 170 (default: 120)
              --no-prompt        show nothing on this terminal
            """
        case .agent:
            """
            Shows the prompts of this session on the terminal, for a session without a desktop.
            Ctrl-C at a prompt cancels it; at no prompt it ends the program.
            """
        case .enroll:
            """
            Enrols a finger; an older print of the same finger is replaced. Ctrl-C ends it.

              --user NAME        for another user
              --reader PATH      on this reader, as 'status' shows it (default: the first)
              --discard-leftovers
                                 delete prints of the user's that only the reader's own memory
                                 has, left there by another system or an earlier installation
              --no-prompt        do not ask for the password on this terminal

            Fingers: \(fingers)
            """
        case .list:
            """
            Lists the enrolled fingers, one a line.

              --user NAME        of another user
            """
        case .delete:
            """
            Deletes prints, also from the readers' own memories.

              --all              every finger
              --user NAME        of another user
              --no-prompt        do not ask for the password on this terminal

            Fingers: \(fingers)
            """
        case .status: "Shows the service, its readers and what is enrolled."
        case .watch: "Shows what happens to one's own evaluations, on stdout, until Ctrl-C."
        case .history:
            """
            Shows who asked for evaluations and changes, why, and what came of it: one a line,
            newest first.

              --user NAME        of another user
              --limit NUMBER     so many at most (default: all that are kept)
            """
        case .eraseReader:
            """
            Empties a reader's own memory, of everybody's prints and of other systems', and deletes
            everybody's prints for such readers. For administrators.

              --reader PATH      the reader, as 'status' shows it
              --no-prompt        do not ask for the password on this terminal
            """
        case .resetLockout:
            """
            Ends a lockout without the password. For administrators.

              --user NAME        of another user
            """
        }
    }

    private static let fingers =
        FingerNames.left.joined(separator: ", ") + ",\n"
        + FingerNames.right.joined(separator: ", ")

    private static let common = """
        Every command:
          --json             one JSON object a line, on stdout
          --quiet, -q        errors only
          --help, -h         print this (with a command: about it) and exit
          --version          print the version and exit
        """

    private static var overview: String {
        let commands = CommandName.allCases.map {
            "  \(padded($0.rawValue, to: 15))\(summary($0))"
        }
        let codes = ExitCode.allCases.map { "  \(padded("\($0.rawValue)", to: 4))\($0.meaning)" }
        return """
            Usage: localauthctl COMMAND [OPTION]...
            Asks who is at the fingerprint reader, and manages the enrolled fingers.

            \(commands.joined(separator: "\n"))

            \(common)

            Exit status:
            \(codes.joined(separator: "\n"))

            It uses the system bus (DBUS_SYSTEM_BUS_ADDRESS).

            """
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.utf8.count))
    }
}
