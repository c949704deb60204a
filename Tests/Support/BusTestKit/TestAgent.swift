// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import Foundation
package import LocalAuthContract

/// A program that shows prompts, on a client's connection. It keeps what it is told, and presses
/// what a test says.
@BusQueue package final class TestAgent {
    package enum Heard: Hashable, Sendable {
        case begun(String, [String: BusValue])
        case updated(String, [String: BusValue])
        case ended(String, String)
    }

    package let client: TestClient
    package let path: ObjectPath
    /// Everything that was heard, in order.
    package let heard = Journal<Heard>()
    /// The prompts that have begun, in order.
    package let begun = Journal<String>()
    package let ended = Journal<String>()
    /// Whether it says that it cannot show prompts.
    package var refuses = false
    /// Whether it never answers.
    package var isMute = false
    /// Runs when a prompt begins, before that is answered.
    package var whileBeginning: ((String) -> Void)?

    package init(_ client: TestClient, at path: ObjectPath = "/agent") {
        self.client = client
        self.path = path
        client.connection.export(BusObject(path, [interface]))
    }

    /// Registers, as the session's without a scope.
    package func register(_ scope: AgentScope? = nil) async throws(BusError) {
        var options: [String: BusValue] = [:]
        options["scope"] = scope.map { .string($0.rawValue) }
        _ = try await client.call(
            RegisterAgent.self, RegisterAgent.Arguments(path: path, options: options))
    }

    package func unregister() async throws(BusError) {
        _ = try await client.call(UnregisterAgent.self, UnregisterAgent.Arguments(path: path))
    }

    /// The id of the next prompt that begins: the first, the second...
    package func prompt(_ number: Int = 1) async -> String {
        await begun.reaches(number)
        return begun.entries.count >= number ? begun.entries[number - 1] : ""
    }

    /// What the prompt shows now.
    package func shown(_ id: String) -> [PromptKey: BusValue] {
        var values: [PromptKey: BusValue] = [:]
        for heard in heard.entries {
            switch heard {
            case .begun(id, let some), .updated(id, let some):
                for (key, value) in some {
                    if let key = PromptKey(rawValue: key) { values[key] = value }
                }
            case .begun, .updated, .ended: break
            }
        }
        return values
    }

    /// Waits until the prompt shows this.
    package func shows(_ id: String, _ key: PromptKey, _ value: BusValue) async {
        await heard.meets { [weak self] _ in self?.shown(id)[key] == value }
    }

    package func outcome(of id: String) -> String? {
        for case .ended(id, let outcome) in heard.entries { return outcome }
        return nil
    }

    // MARK: What a person does

    package func cancel(_ id: String) async throws(BusError) {
        _ = try await client.call(CancelPrompt.self, PromptArgument(id: id))
    }

    package func fallBack(_ id: String) async throws(BusError) {
        _ = try await client.call(ChooseFallback.self, PromptArgument(id: id))
    }

    /// Enters a text and says what came of it.
    @discardableResult
    package func enter(
        _ text: String, _ id: String
    ) async throws -> SubmitPassword.Reply {
        let pipe = Pipe()
        try? pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try? pipe.fileHandleForWriting.close()
        let copy = dup(pipe.fileHandleForReading.fileDescriptor)
        return try await client.call(
            SubmitPassword.self,
            SubmitPassword.Arguments(id: id, secret: SharedDescriptor(adopting: copy)))
    }

    // MARK: Being an agent

    private var interface: BusInterface {
        var interface = BusInterface(Service.agentInterface)
        interface.serve(BeginPrompt.self) { [weak self] arguments, _ throws(BusError) in
            guard let self else { return NoValues() }
            self.heard.add(.begun(arguments.id, arguments.details))
            self.begun.add(arguments.id)
            self.whileBeginning?(arguments.id)
            if self.isMute { await BusQueue.sleep(.seconds(600)) }
            if self.refuses { throw BusError(.failed, "no screen") }
            return NoValues()
        }
        interface.serve(UpdatePrompt.self) { [weak self] arguments, _ throws(BusError) in
            self?.heard.add(.updated(arguments.id, arguments.changes))
            return NoValues()
        }
        interface.serve(EndPrompt.self) { [weak self] arguments, _ throws(BusError) in
            self?.heard.add(.ended(arguments.id, arguments.outcome))
            self?.ended.add(arguments.id)
            return NoValues()
        }
        return interface
    }
}
