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
    static let biometrics = EvaluationTerms(.finger, missesAllowed: 3, badScansAllowed: 3)
    static let either = EvaluationTerms(.fingerOrPassword, missesAllowed: 3, badScansAllowed: 3)
    static let password = EvaluationTerms(.password, missesAllowed: 3, badScansAllowed: 3)

    /// The same without the button that leads to the password.
    var withoutFallback: EvaluationTerms {
        var terms = self
        terms.hasFallback = false
        return terms
    }
}

extension EvaluationOffer {
    /// Without an agent.
    static func silent(_ readers: [ReaderID], attemptsLeft: UInt32 = 5) -> EvaluationOffer {
        EvaluationOffer(readers: readers, attemptsLeft: attemptsLeft)
    }

    /// With an agent, which can take a password.
    static func shown(_ readers: [ReaderID], attemptsLeft: UInt32 = 5) -> EvaluationOffer {
        EvaluationOffer(
            readers: readers, attemptsLeft: attemptsLeft, hasPrompt: true, password: .taken)
    }
}

/// A run of the machine, for scenarios. A class, because `#expect` cannot change a value.
final class Run {
    private(set) var state = EvaluationState.admitting
    let terms: EvaluationTerms

    init(_ terms: EvaluationTerms = .biometrics) { self.terms = terms }

    init(like run: Run) { (state, terms) = (run.state, run.terms) }

    /// A run in which these readers are armed and wait for a finger, without a prompt.
    static func scanning(_ readers: ReaderID..., terms: EvaluationTerms = .biometrics) -> Run {
        let run = Run.prepared(.silent(readers), terms)
        for reader in readers { run.take(.opened(reader)) }
        return run
    }

    /// A run in which an agent shows the prompt, and these readers are armed.
    static func prompting(_ readers: ReaderID..., terms: EvaluationTerms = .either) -> Run {
        let run = Run.prepared(.shown(readers), terms)
        run.take(.presented)
        for reader in readers { run.take(.opened(reader)) }
        return run
    }

    static func prepared(_ offer: EvaluationOffer, _ terms: EvaluationTerms) -> Run {
        let run = Run(terms)
        run.take(.admitted)
        run.take(.turnCame)
        run.take(.prepared(offer))
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
