// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import SystemSupport

extension Conversation {
    /// Enrols a finger, stage by stage. Ctrl-C ends it as the service ends whatever belongs to a
    /// connection that leaves the bus.
    func enrol(_ choice: EnrolmentChoice) async throws(BusError) -> ExitCode {
        let (finger, user) = (choice.finger, choice.user)
        let token = Self.makeToken()
        let output = output
        service.onSignal(EnrollProgressSignal.self) { stage, _ in
            guard stage.token == token else { return }
            output.event(stage.json, stage.hint(finger))
        }
        await service.findOwner()
        try await showManagementPrompts()
        output.event(
            .members([
                "type": "enrolling", "token": .string(token), "finger": .string(finger),
                "user": .string(user),
            ]),
            "Enrolling the \(finger).")
        var options: [String: BusValue] = ["token": .string(token)]
        options["reader"] = choice.reader.map { .objectPath($0) }
        if choice.discardsLeftovers { options["discard-leftovers"] = .bool(true) }
        _ = try await call(
            EnrollFinger.self,
            EnrollFinger.Arguments(user: user, finger: finger, options: options),
            deadline: nil, mayAsk: true)
        output.result(
            .members([
                "type": "enrolled", "finger": .string(finger), "user": .string(user),
            ]),
            ["enrolled: \(finger)"])
        return .success
    }

    /// The service asks for the account's password before it changes prints. Who takes that
    /// question back has ended the command.
    private func showManagementPrompts() async throws(BusError) {
        try await showOwnPrompts()
        guard let agent else { return }
        var isInterrupted = false
        let interrupt = { [self] (source: Interruption.Source) in
            guard !isInterrupted, agent.cancel() else { fail(.interrupted) }
            isInterrupted = true
            _ = BusQueue.executor.after(.seconds(2)) { [self] in
                BusQueue.assumeIsolated { () -> Void in fail(.interrupted) }
            }
        }
        interruption.action = interrupt
        agent.onInputEnd = { interrupt(.key) }
    }

    func list(_ user: String) async throws(BusError) -> ExitCode {
        let fingers = try await call(
            ListFingers.self, UserArgument(user: user), deadline: nil, mayAsk: true
        ).fingers
        output.result(
            .members([
                "type": "fingers", "user": .string(user), "fingers": .strings(fingers),
            ]),
            fingers)
        if fingers.isEmpty { output.hint("No finger is enrolled.") }
        return .success
    }

    /// Deletes prints; no fingers are all of them.
    func delete(_ fingers: [String], of user: String) async throws(BusError) -> ExitCode {
        await service.findOwner()
        try await showManagementPrompts()
        _ = try await call(
            DeleteFingers.self, DeleteFingers.Arguments(user: user, fingers: fingers),
            deadline: nil, mayAsk: true)
        output.result(
            .members([
                "type": "deleted", "user": .string(user), "all": .bool(fingers.isEmpty),
                "fingers": .strings(fingers),
            ]),
            fingers.isEmpty ? ["deleted: every finger"] : fingers.map { "deleted: \($0)" })
        return .success
    }

    /// Empties a reader's own memory.
    func erase(_ reader: ObjectPath) async throws(BusError) -> ExitCode {
        await service.findOwner()
        try await showManagementPrompts()
        _ = try await call(
            EraseReader.self, EraseReader.Arguments(reader: reader), deadline: nil, mayAsk: true)
        output.result(
            .members(["type": "erased", "reader": .string(reader.rawValue)]), ["reader erased"])
        return .success
    }

    func resetLockout(_ user: String) async throws(BusError) -> ExitCode {
        _ = try await call(
            ResetLockout.self, UserArgument(user: user), deadline: nil, mayAsk: true)
        output.result(
            .members(["type": "lockout-reset", "user": .string(user)]), ["lockout ended"])
        return .success
    }
}
