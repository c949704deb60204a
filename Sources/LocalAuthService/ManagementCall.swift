// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// One call that manages prints, from its arrival to its answer. It can be ended before it is done.
@BusQueue final class ManagementCall {
    let caller: Caller
    /// Whether the authority may ask the user.
    let isInteractive: Bool
    /// What the caller's program is called; looked up since the call came.
    let program: Task<CallerProgram?, Never>
    /// Whether the caller has to stay at the machine until it is done.
    var mustStayPresent = false
    /// Why it was ended before it was done.
    private(set) var ending: EvaluationError?
    private var cancel: (() -> Void)?

    init(of caller: Caller, interactive: Bool, program: Task<CallerProgram?, Never>) {
        self.caller = caller
        self.isInteractive = interactive
        self.program = program
    }

    /// From now on it is done by this task.
    func begin(_ task: Task<some Sendable, Never>) { cancel = { task.cancel() } }

    /// Ends it, if it has not been ended yet.
    func end(_ error: EvaluationError) {
        guard ending == nil else { return }
        ending = error
        cancel?()
    }

    /// What the caller is told of a failure: why it was ended, if it was.
    func told(_ error: ManagementError) -> ManagementError {
        ending.map { .evaluation($0) } ?? error
    }
}
