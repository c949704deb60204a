// SPDX-License-Identifier: Apache-2.0

extension ContextState {
    /// What the service knows of the user now; `nil` when it does not answer.
    var environment: EnvironmentSnapshot? {
        waitForService { [link] in await link.environment() }
    }

    /// Begins an evaluation and waits for its end; when the task is cancelled, that is soon.
    func outcome(of evaluation: Evaluation, begin: () -> Void) async throws -> Success {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                evaluation.whenEnded { continuation.resume(with: $0.mapError { $0 }) }
                begin()
            }
        } onCancel: {
            cancel(evaluation, "the task was cancelled")
        }
    }
}
