// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// Everything that is known of a user's biometry, in one place and from memory.
@BusQueue final class BiometryState {
    let readers: ReaderRegistry
    let prints: PrintIndex
    let lockout: LockoutKeeper
    private let requiresAgent: Bool
    private var isReady = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(
        readers: ReaderRegistry, prints: PrintIndex, lockout: LockoutKeeper, requiresAgent: Bool
    ) {
        self.readers = readers
        self.prints = prints
        self.lockout = lockout
        self.requiresAgent = requiresAgent
    }

    /// The readers are known now. What is asked before waits for this, so that a daemon that was
    /// started by the question does not deny having a reader.
    func becomeReady() {
        isReady = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// Returns once the readers are known.
    func waitUntilReady() async {
        if !isReady { await withCheckedContinuation { waiting.append($0) } }
    }

    /// What is known of the user's biometry.
    func facts(of account: Account) async -> BiometryFacts {
        await waitUntilReady()
        let prints = await prints.prints(of: account.name)
        let standing = await lockout.standing(of: account)
        return BiometryFacts(readers: readers.readers, prints: prints, lockout: standing)
    }

    /// The readers on which the policy could be evaluated now: the one rule behind
    /// `CanEvaluatePolicy` and the beginning of `EvaluatePolicy`, so that the two agree.
    func readers(
        for policy: Policy, of account: Account
    ) async throws(EvaluationError) -> [ReaderDescription] {
        // Where the administrator wants a prompt with every scan, there is none yet to be had.
        guard !requiresAgent else { throw .notInteractive }
        return try await facts(of: account).evaluate(policy).get()
    }
}
