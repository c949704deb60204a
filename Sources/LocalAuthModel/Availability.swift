// SPDX-License-Identifier: Apache-2.0

/// What is known of a user's biometry at a moment.
package struct BiometryFacts: Hashable, Sendable {
    /// The readers that are here.
    package var readers: [ReaderDescription]
    /// The user's prints; `nil` when they could not be looked up.
    package var prints: [PrintID]?
    package var lockout: LockoutStanding
    package var lid = LidState.open
    /// Whether the machine is asleep, or about to be.
    package var isAsleep = false
    /// The readers that nothing can be asked of for now: their drivers failed too often, or do not
    /// let go.
    package var outOfOrder: Set<ReaderID> = []
    /// The user's prints that readers have turned out not to have in their own memory.
    package var lost: [ReaderID: Set<PrintID>] = [:]

    package init(readers: [ReaderDescription], prints: [PrintID]?, lockout: LockoutStanding) {
        self.readers = readers
        self.prints = prints
        self.lockout = lockout
    }

    /// The readers that hold a print of the user.
    package var usableReaders: [ReaderDescription] {
        guard let prints else { return [] }
        return readers.filter { reader in
            let lost = lost[reader.id] ?? []
            return prints.contains { $0.reader == reader.kind && !lost.contains($0) }
        }
    }

    /// Whether the user has prints on readers that are here, and all of those are out of reach.
    package var isSensorInaccessible: Bool {
        let usable = usableReaders
        return !usable.isEmpty && usable.allSatisfy { !lid.leavesAccessible($0.placement) }
    }

    /// Whether a finger could be asked for now, and if not, why.
    package func biometry() -> Result<[ReaderDescription], EvaluationError> {
        guard !isAsleep else { return .failure(.biometryNotAvailable) }
        guard let prints else { return .failure(.biometryNotAvailable) }
        guard !readers.isEmpty else {
            return .failure(prints.isEmpty ? .biometryNotAvailable : .biometryDisconnected)
        }
        let usable = usableReaders
        guard !usable.isEmpty else {
            let kinds = Set(prints.map(\.reader))
            let hasLost = readers.contains { kinds.contains($0.kind) }
            return .failure(hasLost ? .printsNotOnReader : .biometryNotEnrolled)
        }
        guard !lockout.isLocked else { return .failure(.biometryLockout) }
        let ready = usable.filter { isReady($0) }
        return ready.isEmpty ? .failure(.biometryNotAvailable) : .success(ready)
    }

    private func isReady(_ reader: ReaderDescription) -> Bool {
        // A hot sensor cools down by itself, but not within the time that people wait.
        reader.temperature != .hot && lid.leavesAccessible(reader.placement)
            && !outOfOrder.contains(reader.id)
    }

    /// The readers that a requirement could be met on now, none where only the password is left;
    /// and if it cannot be met, why.
    package func readers(
        for requirement: Requirement, password: PasswordOffer
    ) -> Result<[ReaderDescription], EvaluationError> {
        // Nothing is begun that the sleep would end.
        guard !isAsleep || requirement == .finger else { return .failure(.notInteractive) }
        let biometry = requirement == .password ? .success([]) : biometry()
        switch (biometry, password) {
        case (.success(let readers), .taken): return .success(readers)
        case (.success(let readers), .refused(let obstacle)):
            return readers.isEmpty ? .failure(obstacle) : .success(readers)
        case (.failure(let error), _) where requirement == .finger: return .failure(error)
        case (.failure, .taken): return .success([])
        case (.failure, .refused(let obstacle)): return .failure(obstacle)
        }
    }
}
