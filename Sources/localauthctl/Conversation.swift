// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import Glibc
internal import LocalAuthContract
internal import SystemSupport

/// One run of the program: a connection to the bus, one command, and the end.
@BusQueue final class Conversation {
    /// For what the service answers by itself, without anybody being asked; the rest is allowed
    /// to take as long as a person takes.
    static let deadline: Duration = .seconds(25)

    let service: RemoteService
    let output: Output
    let interruption: Interruption
    /// Whether polkit may ask the user: only where somebody sits and waits.
    let isInteractive = isatty(0) != 0 || isatty(2) != 0
    /// Who shows the service's prompts here; nobody before `showPrompts`, nor where nobody can.
    private(set) var agent: PromptAgent?
    /// Whether Ctrl-C has been pressed at the prompt that is shown.
    var isCanceling = false
    /// Whether an agent is just being registered.
    var isRegistering = false
    /// Whether a new service wants none of us before the session is unlocked.
    var isWaitingForSession = false
    /// Whether prompts may be shown on the terminal: somebody sits there, to whom the output goes.
    private let mayPrompt: Bool

    private init(
        _ service: RemoteService, _ output: Output, _ interruption: Interruption, mayPrompt: Bool
    ) {
        self.service = service
        self.output = output
        self.interruption = interruption
        self.mayPrompt = mayPrompt
    }

    /// Does the command and ends the process.
    static func begin(_ command: Command, _ format: OutputFormat, prompts: Bool) {
        let output = Output(format)
        let connection: BusConnection
        do throws(BusError) {
            connection = try BusConnection()
        } catch {
            output.failure(error, .notReachable)
            exit(ExitCode.notReachable.rawValue)
        }
        let service = RemoteService(Service.name, on: connection)
        let interruption = Interruption { _ in
            output.failure(.interrupted, .canceled)
            connection.close()
            exit(ExitCode.canceled.rawValue)
        }
        guard let interruption else {
            output.failure(BusError(.failed, "no descriptor left"), .unknown)
            exit(ExitCode.unknown.rawValue)
        }
        let mayPrompt = prompts && format == .plain && isatty(0) != 0
        let conversation = Conversation(service, output, interruption, mayPrompt: mayPrompt)
        connection.onDisconnect = {
            conversation.fail(BusError(.disconnected, "the connection to the bus has ended"))
        }
        BusQueue.task {
            do throws(BusError) {
                conversation.leave(try await conversation.run(command))
            } catch {
                conversation.fail(error)
            }
        }
    }

    private func run(_ command: Command) async throws(BusError) -> ExitCode {
        switch command {
        case .can(let policy): try await can(policy)
        case .evaluate(let choice): try await evaluate(choice)
        case .unlock(let timeout): try await unlock(timeout)
        case .agent: try await serveSession()
        case .enrol(let choice): try await enrol(choice)
        case .list(let user): try await list(user)
        case .delete(let fingers, let user): try await delete(fingers, of: user)
        case .status: try await status()
        case .watch: try await watch()
        case .history(let user, let limit): try await history(of: user, limit: limit)
        case .resetLockout(let user): try await resetLockout(user)
        case .eraseReader(let reader): try await erase(reader)
        }
    }

    /// Calls the service. Without a deadline the daemon's own limits hold.
    func call<M: BusMethod>(
        _ method: M.Type, _ arguments: M.Arguments, deadline: Duration?, mayAsk: Bool = false
    ) async throws(BusError) -> M.Reply {
        try await service.call(
            method, arguments, at: Service.path, deadline: deadline,
            interactive: mayAsk && isInteractive)
    }

    /// Tells why there is no result, and ends the process.
    func fail(_ error: BusError) -> Never {
        let code = ExitCode(error)
        agent?.drop()
        if error == .interrupted { output.hurry() }
        output.failure(error, code)
        leave(code)
    }

    /// Ends the process.
    func leave(_ code: ExitCode) -> Never {
        agent?.drop()
        service.connection.close()
        exit(output.finalCode(code).rawValue)
    }
}

extension Conversation {
    /// Makes an agent, which shows prompts on the terminal; `nil` where none may be shown.
    func makeAgent() -> PromptAgent? {
        guard mayPrompt, let terminal = Terminal() else { return nil }
        // What is typed is nobody else's: not a debugger's, and not a core file's.
        forbidCoreDumps()
        let agent = PromptAgent(service, on: terminal)
        self.agent = agent
        return agent
    }

    /// From now on, what the service has to ask about this program's own calls is asked on the
    /// terminal, if it can be. Where it cannot (another agent has the session, or the service is
    /// older than prompts), everything goes on without.
    func showOwnPrompts() async throws(BusError) {
        guard let agent = makeAgent() else { return }
        do throws(BusError) {
            try await agent.register(.own)
        } catch {
            // To ask a service that cannot be started once more would only take twice as long.
            guard !error.isAbsence else { throw error }
        }
    }
}

extension BusError {
    /// The end by Ctrl-C or another signal.
    static let interrupted = BusError(ServiceError.appCancel.name, "Interrupted.")

    /// Whether there is no service, as far as we can see. One that is older than what was asked of
    /// it is there.
    var isAbsence: Bool {
        let isOlder = [.unknownMethod, .unknownInterface, .unknownObject].contains(name)
        return ExitCode(self) == .notReachable && !isOlder && name != .disconnected
    }
}

extension Conversation {
    /// A name that no other evaluation has.
    static func makeToken() -> String {
        "localauthctl-" + String(UInt64.random(in: .min ... .max), radix: 16)
    }
}
