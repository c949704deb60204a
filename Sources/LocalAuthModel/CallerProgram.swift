// SPDX-License-Identifier: Apache-2.0

/// The program behind a caller, for people to see. Never the ground of a decision.
package struct CallerProgram: Hashable, Sendable {
    /// How it is known what the program is.
    package enum Evidence: String, CaseIterable, Hashable, Sendable {
        /// The sandbox that it runs in says so.
        case sandbox
        /// Its security label, which the kernel keeps, says so.
        case label
        /// The name of what is executed, which any program of the same user can give itself.
        case unverified
    }

    /// An application id, a label, or the path of an executable file.
    package let name: String
    package let evidence: Evidence

    package init(name: String, evidence: Evidence) {
        self.name = name
        self.evidence = evidence
    }
}

/// What a caller's program is called.
package protocol ProgramLookup: Sendable {
    /// `nil` where nothing is known, or where what was found may be of another process. Costs
    /// no more than a few seconds.
    func program(of caller: Caller) async -> CallerProgram?
}
