// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

extension Conversation {
    /// Enrols a finger, stage by stage. Ctrl-C ends it as the service ends whatever belongs to a
    /// connection that leaves the bus.
    func enrol(
        _ finger: String, of user: String, on reader: ObjectPath?
    ) async throws(BusError) -> ExitCode {
        let token = Self.makeToken()
        let output = output
        service.onSignal(EnrollProgressSignal.self) { stage, _ in
            guard stage.token == token else { return }
            output.event(stage.json, stage.hint)
        }
        await service.findOwner()
        output.event(
            .members([
                "type": "enrolling", "token": .string(token), "finger": .string(finger),
                "user": .string(user),
            ]),
            "Touch the fingerprint reader with the \(finger).")
        var options: [String: BusValue] = ["token": .string(token)]
        options["reader"] = reader.map { .objectPath($0) }
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

    func resetLockout(_ user: String) async throws(BusError) -> ExitCode {
        _ = try await call(
            ResetLockout.self, UserArgument(user: user), deadline: nil, mayAsk: true)
        output.result(
            .members(["type": "lockout-reset", "user": .string(user)]), ["lockout ended"])
        return .success
    }
}
