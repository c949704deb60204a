// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication

let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

/// A service that says what a test wants, and an application.
final class FakeScene {
    let bus: PrivateBus
    let service: FakeService
    let link: ServiceLink

    init() async throws {
        bus = try await PrivateBus()
        service = try await FakeService(bus)
        link = ServiceLink(address: bus.address)
    }

    func context() -> LAContext { LAContext(link: link) }

    /// The options of the call that an evaluation leads to, which then succeeds.
    func options(
        _ options: LAEvaluationOptions = LAEvaluationOptions(), of context: LAContext
    ) async throws -> [String: BusValue] {
        let task = Task {
            try await context.evaluate(biometrics, localizedReason: "open", options: options)
        }
        guard let call = await service.evaluations.next() else { throw CancellationError() }
        call.answer(EvaluatePolicy.Reply(result: [:]))
        _ = try await task.value
        return call.arguments.options.filter { $0.key != "token" }
    }
}

/// The error that something ends with.
func error<T>(_ work: () async throws -> T) async -> LAError? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error as? LAError
    }
}
