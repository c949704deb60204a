// SPDX-License-Identifier: Apache-2.0

package import DBusBinding

// What an agent calls (`AgentManager`, on the service's object), and what the service calls on an
// agent (`Agent`, on the object that it has registered).

/// `RegisterAgent(o path, a{sv} options)`.
package enum RegisterAgent: BusMethod {
    package static let interface = Service.agentManagerInterface
    package static let member: MemberName = "RegisterAgent"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("path", ObjectPath.self),
            BusParameter("options", [String: BusValue].self),
        ]
        package var path: ObjectPath
        package var options: [String: BusValue]
        package init(path: ObjectPath, options: [String: BusValue]) {
            self.path = path
            self.options = options
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            path = try reader.read()
            options = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(path)
            writer.write(options)
        }
    }
    package typealias Reply = NoValues
}

/// `UnregisterAgent(o path)`.
package enum UnregisterAgent: BusMethod {
    package static let interface = Service.agentManagerInterface
    package static let member: MemberName = "UnregisterAgent"
    package struct Arguments: BusBody {
        package static let parameters = [BusParameter("path", ObjectPath.self)]
        package var path: ObjectPath
        package init(path: ObjectPath) { self.path = path }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            path = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) { writer.write(path) }
    }
    package typealias Reply = NoValues
}

/// `CancelPrompt(s id)`.
package enum CancelPrompt: BusMethod {
    package static let interface = Service.agentManagerInterface
    package static let member: MemberName = "CancelPrompt"
    package typealias Arguments = PromptArgument
    package typealias Reply = NoValues
}

/// `ChooseFallback(s id)`.
package enum ChooseFallback: BusMethod {
    package static let interface = Service.agentManagerInterface
    package static let member: MemberName = "ChooseFallback"
    package typealias Arguments = PromptArgument
    package typealias Reply = NoValues
}

/// `SubmitPassword(s id, h secret) -> (b accepted, u attempts_left)`.
package enum SubmitPassword: BusMethod {
    package static let interface = Service.agentManagerInterface
    package static let member: MemberName = "SubmitPassword"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("id", String.self), BusParameter("secret", SharedDescriptor.self),
        ]
        package var id: String
        package var secret: SharedDescriptor
        package init(id: String, secret: SharedDescriptor) {
            self.id = id
            self.secret = secret
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            id = try reader.read()
            secret = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(id)
            writer.write(secret)
        }
    }
    package struct Reply: BusBody {
        package static let parameters = [
            BusParameter("accepted", Bool.self), BusParameter("attempts_left", UInt32.self),
        ]
        package var accepted: Bool
        package var attemptsLeft: UInt32
        package init(accepted: Bool, attemptsLeft: UInt32) {
            self.accepted = accepted
            self.attemptsLeft = attemptsLeft
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            accepted = try reader.read()
            attemptsLeft = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(accepted)
            writer.write(attemptsLeft)
        }
    }
}

/// `BeginPrompt(s id, a{sv} details)`, of an agent.
package enum BeginPrompt: BusMethod {
    package static let interface = Service.agentInterface
    package static let member: MemberName = "BeginPrompt"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("id", String.self),
            BusParameter("details", [String: BusValue].self),
        ]
        package var id: String
        package var details: [String: BusValue]
        package init(id: String, details: [String: BusValue]) {
            self.id = id
            self.details = details
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            id = try reader.read()
            details = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(id)
            writer.write(details)
        }
    }
    package typealias Reply = NoValues
}

/// `UpdatePrompt(s id, a{sv} changes)`, of an agent.
package enum UpdatePrompt: BusMethod {
    package static let interface = Service.agentInterface
    package static let member: MemberName = "UpdatePrompt"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("id", String.self),
            BusParameter("changes", [String: BusValue].self),
        ]
        package var id: String
        package var changes: [String: BusValue]
        package init(id: String, changes: [String: BusValue]) {
            self.id = id
            self.changes = changes
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            id = try reader.read()
            changes = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(id)
            writer.write(changes)
        }
    }
    package typealias Reply = NoValues
}

/// `EndPrompt(s id, s outcome)`, of an agent.
package enum EndPrompt: BusMethod {
    package static let interface = Service.agentInterface
    package static let member: MemberName = "EndPrompt"
    package struct Arguments: BusBody {
        package static let parameters = [
            BusParameter("id", String.self), BusParameter("outcome", String.self),
        ]
        package var id: String
        package var outcome: String
        package init(id: String, outcome: String) {
            self.id = id
            self.outcome = outcome
        }
        package init(from reader: inout MessageReader) throws(DecodingFailure) {
            id = try reader.read()
            outcome = try reader.read()
        }
        package func encode(to writer: inout MessageWriter) {
            writer.write(id)
            writer.write(outcome)
        }
    }
    package typealias Reply = NoValues
}

/// One prompt, by the id that it was begun with.
package struct PromptArgument: BusBody {
    package static let parameters = [BusParameter("id", String.self)]
    package var id: String
    package init(id: String) { self.id = id }
    package init(from reader: inout MessageReader) throws(DecodingFailure) {
        id = try reader.read()
    }
    package func encode(to writer: inout MessageWriter) { writer.write(id) }
}

/// The values of `RegisterAgent`'s option `scope`.
package enum AgentScope: String, CaseIterable, Sendable {
    /// Shows the prompts of the whole session.
    case session
    /// Shows the prompts of its own connection's evaluations, where the session has no agent.
    case own = "self"
}

/// The keys of `BeginPrompt`'s details and of `UpdatePrompt`'s changes.
package enum PromptKey: String, CaseIterable, Sendable {
    // What a prompt begins with, and keeps

    /// s: `evaluate`, `enroll` or `delete`: what the user is asked for.
    case purpose
    /// u: the policy; 0 where the purpose is not `evaluate`.
    case policy
    /// s: the caller's words, plain and on one line.
    case reason
    /// s: the account whose finger or password is wanted.
    case user
    /// s: what the caller's program is called; empty when it is not known.
    case caller
    /// s: `sandbox`, `label` or `unverified`; empty when it is not known.
    case callerEvidence = "caller-evidence"
    /// s: the title of the fallback button; empty: the agent's own title. Absent: there is no such
    /// button.
    case fallbackTitle = "fallback-title"
    /// s: the title of the cancel button; empty: the agent's own title.
    case cancelTitle = "cancel-title"
    /// s: the window that the prompt belongs to; may be empty.
    case parentWindow = "parent-window"
    /// u: seconds from the beginning to the end by time-out, rounded down.
    case timeout
    /// s: the reader's name for people; empty without a reader. With several, the first.
    case reader
    /// s: `press` or `swipe`; empty without a reader.
    case scanType = "scan-type"

    // What changes meanwhile

    /// b: whether a finger is wanted now.
    case finger
    /// b: whether a password is taken now.
    case password
    /// u: misses of fingers that are left.
    case attemptsLeft = "attempts-left"
    /// u: wrong passwords that are left.
    case passwordsLeft = "passwords-left"
    /// s: as the signal `Progress` says it.
    case progress
    /// s: why the last touch did not count, as the signal `Retry` says it.
    case retry
    /// s: one line to be shown, of the password's check.
    case information
    /// s: the same, of something that went wrong.
    case error
    /// s: what is to be entered next, instead of the password.
    case question
    /// b: whether what is typed to answer `question` may be shown.
    case echo
}
