// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication
import TestKit

/// The built daemon with a virtual reader, an application that uses `LocalAuthentication`, and
/// somebody who watches the user's evaluations and has fingers.
final class ContextScene {
    let service: TestService
    /// Enrols fingers, and hears what the service tells of everybody's evaluations.
    let watcher: TestClient
    /// The application's way to the service.
    let link: ServiceLink

    /// - Parameters:
    ///   - isEnrolled: whether the finger `mine` is enrolled.
    ///   - configuration: the daemon's configuration.
    /// - Throws: what kept the service from starting.
    init(
        isEnrolled: Bool = true, configuration: String = TestService.localConfiguration
    ) async throws {
        service = try await TestService(.storage, configuration: configuration)
        watcher = try await TestClient(service.bus)
        if isEnrolled { try await enrol(on: service, by: watcher) }
        _ = try await watcher.call(Watch.self, NoValues())
        link = ServiceLink(address: service.bus.address)
    }

    func context() -> LAContext { LAContext(link: link) }

    /// Touches the reader as soon as an evaluation wants it.
    func touch(_ finger: String = "mine") async throws {
        await watcher.fingerIsNeeded()
        try service.storage.send("SCAN \(finger)")
    }

    /// Touches it with a wrong finger, so often.
    func miss(_ count: Int) async throws {
        for number in 1...count {
            try await touch("other")
            if number < count { await watcher.nextRetry() }
        }
    }
}

/// What a reply closure is called with.
struct Replied: Sendable, Equatable {
    let success: Bool
    let code: LAError.Code?
}

extension LAContext {
    /// Evaluates with the closure, and waits for it.
    func reply(
        _ policy: LAPolicy = .deviceOwnerAuthenticationWithBiometrics,
        reason: String = "open the safe"
    ) -> Task<Replied, Never> {
        Task {
            await withCheckedContinuation { continuation in
                // A second call of the closure would trap.
                evaluatePolicy(policy, localizedReason: reason) { success, error in
                    continuation.resume(
                        returning: Replied(success: success, code: (error as? LAError)?.code))
                }
            }
        }
    }

    /// Why the policy cannot be evaluated; `nil` when it can.
    func whyNot(
        _ policy: LAPolicy = .deviceOwnerAuthenticationWithBiometrics
    ) async throws -> LAError? {
        let context = self
        return try await blocking {
            var error: NSError?
            let can = unsafe context.canEvaluatePolicy(policy, error: &error)
            precondition(can == (error == nil), "the error goes with the answer")
            return error as? LAError
        }
    }

    /// The code of the answer's error; `nil` for a yes.
    func can(
        _ policy: LAPolicy = .deviceOwnerAuthenticationWithBiometrics
    ) async throws -> LAError.Code? { try await whyNot(policy)?.code }
}
