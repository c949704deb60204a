// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel

// Values that the tests of this target share.

/// A sample that must be valid; anything else is a mistake in the test.
func valid<T>(_ value: T?) -> T {
    guard let value else { preconditionFailure("not a valid sample") }
    return value
}

extension UserName {
    static let alice = valid(UserName("alice"))
}

extension ReaderKind {
    static func sample(_ device: String) -> ReaderKind {
        valid(ReaderKind(driver: "virtual", deviceID: device))
    }
}

extension PrintID {
    static let sample = PrintID(user: .alice, reader: .sample("1"), finger: .rightIndex)
}

extension BootID {
    static func sample(_ number: Int) -> BootID {
        valid(BootID("b007-\(number)"))
    }
}

extension BootTime {
    static func seconds(_ seconds: UInt64) -> BootTime {
        BootTime(microseconds: seconds * 1_000_000)
    }
}

extension ReaderDescription {
    static func sample(
        _ number: UInt32, _ placement: ReaderPlacement = .unknown, device: String = "1",
        temperature: ReaderTemperature = .cold
    ) -> ReaderDescription {
        ReaderDescription(
            id: ReaderID(number), kind: .sample(device), name: "Reader", scanType: .press,
            enrolmentStages: 5, features: [.verify, .identify], temperature: temperature,
            placement: placement)
    }
}

extension EvaluationTerms {
    static let biometrics = EvaluationTerms(
        policy: .deviceOwnerAuthenticationWithBiometrics, missesAllowed: 3, badScansAllowed: 3)
    static let either = EvaluationTerms(
        policy: .deviceOwnerAuthentication, missesAllowed: 3, badScansAllowed: 3)
}

/// A run of the machine, for scenarios. A class, because `#expect` cannot change a value.
final class Run {
    private(set) var state = EvaluationState.admitting
    let terms: EvaluationTerms

    init(_ terms: EvaluationTerms = .biometrics) { self.terms = terms }

    init(like run: Run) { (state, terms) = (run.state, run.terms) }

    /// A run in which these readers are armed and wait for a finger.
    static func scanning(_ readers: ReaderID..., terms: EvaluationTerms = .biometrics) -> Run {
        let run = Run(terms)
        run.take(.admitted)
        run.take(.turnCame)
        run.take(.prepared(readers, attemptsLeft: 5))
        for reader in readers { run.take(.opened(reader)) }
        return run
    }

    @discardableResult
    func take(_ event: EvaluationEvent) -> [EvaluationEffect] {
        let outcome = step(state, event, terms)
        state = outcome.state
        return outcome.effects
    }
}

extension [EvaluationEffect] {
    /// The answers among the effects.
    var answers: [EvaluationError?] {
        compactMap { effect in
            if case .answer(let error) = effect { .some(error) } else { nil }
        }
    }
}
