// SPDX-License-Identifier: Apache-2.0

/// What is known of a user's biometry at a moment.
package struct BiometryFacts: Hashable, Sendable {
    /// The readers that are here.
    package var readers: [ReaderDescription]
    /// The user's prints; `nil` when they could not be looked up.
    package var prints: [PrintID]?
    package var lockout: LockoutStanding

    package init(readers: [ReaderDescription], prints: [PrintID]?, lockout: LockoutStanding) {
        self.readers = readers
        self.prints = prints
        self.lockout = lockout
    }

    /// The readers that hold a print of the user.
    package var usableReaders: [ReaderDescription] {
        let kinds = Set((prints ?? []).map(\.reader))
        return readers.filter { kinds.contains($0.kind) }
    }

    /// Whether a finger could be asked for now, and if not, why.
    package func biometry() -> Result<[ReaderDescription], EvaluationError> {
        guard let prints else { return .failure(.biometryNotAvailable) }
        guard !readers.isEmpty else {
            return .failure(prints.isEmpty ? .biometryNotAvailable : .biometryDisconnected)
        }
        let usable = usableReaders
        guard !usable.isEmpty else { return .failure(.biometryNotEnrolled) }
        guard !lockout.isLocked else { return .failure(.biometryLockout) }
        // A hot sensor cools down by itself, but not within the time that people wait.
        let cool = usable.filter { $0.temperature != .hot }
        return cool.isEmpty ? .failure(.biometryNotAvailable) : .success(cool)
    }

    /// The readers on which the policy could be evaluated now, and if there are none, why.
    package func evaluate(_ policy: Policy) -> Result<[ReaderDescription], EvaluationError> {
        biometry().mapError { $0.under(policy) }
    }
}
