// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import Glibc
internal import SystemSupport

@main
enum LocalAuthCtl {
    static let version = "0.1.0"

    static func main() {
        prepareDescriptors()
        let invocation: Invocation
        do throws(Invocation.Failure) {
            invocation = try Invocation(CommandLine.arguments.dropFirst())
        } catch {
            var errors = OutputStream(descriptor: 2)
            errors.write(TerminalLine("localauthctl: \(error.message); see --help").text + "\n")
            exit(ExitCode.usage.rawValue)
        }
        switch invocation {
        case .help(let command): printAndExit(Help.text(command))
        case .version: printAndExit("localauthctl \(version)\n")
        case .run(let command, let format, let prompts):
            BusQueue.post { Conversation.begin(command, format, prompts: prompts) }
            // Ends only with the process.
            BusQueue.executor.run()
        }
    }

    private static func printAndExit(_ text: String) -> Never {
        var stream = OutputStream(descriptor: 1)
        stream.write(text)
        exit(stream.isLossy ? ExitCode.notWritten.rawValue : ExitCode.success.rawValue)
    }

    /// Makes writing safe: a closed pipe is an error and not a signal, and no socket of ours can
    /// take the place of a standard stream that was closed, to be written to.
    private static func prepareDescriptors() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            // SAFETY: the literal is only read.
            unsafe _ = open("/dev/null", O_RDWR)
        }
    }
}
