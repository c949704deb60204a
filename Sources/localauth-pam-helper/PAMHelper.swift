// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LocalAuthModel
internal import PasswordMessages
internal import SystemSupport

/// Checks one password with PAM, and ends.
///
/// Started by the daemon, with a `MessageSocket` as standard input: what was typed comes through
/// it as the reading end of a pipe, and the verdict goes back.
@main
enum PAMHelper {
    private static let usage = """
        Usage: localauth-pam-helper [--confdir DIR] SERVICE USER
        Checks a password for localauthd, which starts it. Of no use by itself.

        """

    static func main() {
        guard let check = PAMCheck(CommandLine.arguments.dropFirst()) else {
            // SAFETY: the string lives during the call.
            unsafe usage.withCString { _ = unsafe write(2, $0, strlen($0)) }
            exit(2)
        }
        umask(0o077)
        forbidCoreDumps()
        endWithParent()
        let daemon = DaemonLink()
        switch daemon.nextEntry() {
        case .refused(let verdict): daemon.tell(.verdict(verdict))
        case .secret(let secret):
            // PAM is not even started for it, so that nothing is counted.
            if secret.isEmpty { return daemon.tell(.verdict(.empty)) }
            let conversation = PAMConversation(secret, with: daemon)
            let verdict = check.run(conversation)
            conversation.tell(verdict)
        }
    }
}

extension PAMCheck {
    /// From the arguments behind the program's name.
    fileprivate init?(_ arguments: some Collection<String>) {
        var words = Array(arguments)
        var directory: String?
        if words.count == 4, words[0] == "--confdir" {
            directory = words[1]
            words.removeFirst(2)
        }
        guard words.count == 2, let service = PAMServiceName(words[0]),
            let user = UserName(words[1])
        else { return nil }
        self.init(service: service, user: user, directory: directory)
    }
}
