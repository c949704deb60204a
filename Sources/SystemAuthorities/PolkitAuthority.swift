// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import LocalAuthModel
package import SystemSupport

// polkit's D-Bus interface: https://www.freedesktop.org/software/polkit/docs/latest/,
// "D-Bus API Reference", org.freedesktop.PolicyKit1.Authority.

private let authority: InterfaceName = "org.freedesktop.PolicyKit1.Authority"
private let authorityPath: ObjectPath = "/org/freedesktop/PolicyKit1/Authority"

private enum CheckAuthorization: BusMethod {
    static let interface = authority
    static let member: MemberName = "CheckAuthorization"

    struct Arguments: BusBody {
        static let parameters = [
            BusParameter("subject", PolkitSubject.self), BusParameter("action_id", String.self),
            BusParameter("details", [String: String].self), BusParameter("flags", UInt32.self),
            BusParameter("cancellation_id", String.self),
        ]
        let subject: PolkitSubject
        let action: String
        let flags: UInt32
        let cancellationID: String
        init(subject: PolkitSubject, action: String, flags: UInt32, cancellationID: String) {
            self.subject = subject
            self.action = action
            self.flags = flags
            self.cancellationID = cancellationID
        }
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            subject = try reader.read()
            action = try reader.read()
            _ = try reader.read([String: String].self)
            flags = try reader.read()
            cancellationID = try reader.read()
        }
        func encode(to writer: inout MessageWriter) {
            writer.write(subject)
            writer.write(action)
            writer.write([String: String]())
            writer.write(flags)
            writer.write(cancellationID)
        }
    }

    typealias Reply = Single<PolkitResult>
}

private enum CancelCheckAuthorization: BusMethod {
    static let interface = authority
    static let member: MemberName = "CancelCheckAuthorization"
    typealias Arguments = Single<String>
    typealias Reply = NoValues
}

/// `Changed()`: rules, actions or temporary authorizations are different now.
private enum AuthorityChanged: BusSignal {
    static let interface = authority
    static let member: MemberName = "Changed"
    typealias Arguments = NoValues
}

/// `(sa{sv})`: whom a decision is about. A bus name cannot be taken over by another process, as a
/// process id can.
struct PolkitSubject: BusType {
    static let signature = "(sa{sv})"
    let connection: String
    init(connection: String) { self.connection = connection }
    init(from reader: inout MessageReader) throws(DecodingFailure) {
        throw DecodingFailure(expected: Self.signature, found: "")
    }
    func encode(to writer: inout MessageWriter) {
        writer.structure { inner in
            inner.write("system-bus-name")
            inner.write(["name": BusValue.string(connection)])
        }
    }
}

/// `(bba{ss})`: whether it is authorized, whether it could become so by a question, details.
struct PolkitResult: BusType {
    static let signature = "(bba{ss})"
    let isAuthorized: Bool
    init(from reader: inout MessageReader) throws(DecodingFailure) {
        var inner = try reader.structure()
        isAuthorized = try inner.read()
    }
    func encode(to writer: inout MessageWriter) {
        writer.structure { inner in
            inner.write(isAuthorized)
            inner.write(false)
            inner.write([String: String]())
        }
    }
}

/// Asks polkit. An unreachable polkit means no.
@BusQueue package final class PolkitAuthority: Authorizing {
    private struct Question: Hashable {
        let connection: String
        let action: Action
    }

    /// How long polkit is waited for when it need not ask anybody.
    package struct Patience: Sendable {
        package var atFirst: Duration = .seconds(5)
        /// With a polkit that did not answer the last time. Otherwise one that hangs would keep
        /// every new connection waiting as long as the first.
        package var later: Duration = .seconds(1)
        /// How long it is remembered that it did not.
        package var memory: Duration = .seconds(10)
        package init() {}
    }

    package nonisolated let asksForPassword = true

    private let polkit: RemoteService
    private let log: Log
    /// Yes and no that were given without a question, until polkit says that things changed.
    private var decisions: [Question: Decision] = [:]
    private var open = OpenQuestions()
    private var epoch: UInt64 = 0
    private var lastCancellation: UInt64 = 0
    /// Until when a polkit that did not answer is thought to go on like that.
    private var muteUntil = ContinuousClock.now
    private let patience: Patience
    /// A question to the user ends with the evaluation; this only bounds what nobody cancels.
    private static let questionDeadline: Duration = .seconds(180)

    package init(on connection: BusConnection, log: Log, patience: Patience = Patience()) {
        self.log = log
        self.patience = patience
        polkit = RemoteService("org.freedesktop.PolicyKit1", on: connection)
        polkit.onSignal(AuthorityChanged.self) { [weak self] _, _ in self?.noteChange() }
        polkit.onOwnerChange = { [weak self] _ in self?.noteChange() }
    }

    @BusQueue package func decide(
        _ action: Action, for caller: Caller, interactive: Bool
    ) async -> Decision {
        let question = Question(connection: caller.connection, action: action)
        if let decision = decisions[question], decision == .granted || !interactive {
            return decision
        }
        let asked = epoch
        open.begin(caller.connection)
        let decision = await ask(question, interactive: interactive)
        let hasStayed = open.end(caller.connection)
        // An answer to a question may have been meant for this once, and an answer that was under
        // way when things changed may be an old one.
        if hasStayed, !interactive, decision != .unanswered, asked == epoch, polkit.owner != nil {
            decisions[question] = decision
        }
        return decision
    }

    @BusQueue package func forget(_ connection: String) {
        open.noteGone(connection)
        decisions = decisions.filter { $0.key.connection != connection }
    }

    @BusQueue package func forgetAll() async { dropDecisions() }

    private func dropDecisions() {
        epoch += 1
        decisions = [:]
    }

    /// polkit has said something, or is another one.
    private func noteChange() {
        muteUntil = .now
        dropDecisions()
    }

    private func ask(_ question: Question, interactive: Bool) async -> Decision {
        lastCancellation += 1
        let cancellationID = "localauth-\(lastCancellation)"
        // 1: polkit may ask the user.
        let arguments = CheckAuthorization.Arguments(
            subject: PolkitSubject(connection: question.connection),
            action: question.action.rawValue, flags: interactive ? 1 : 0,
            cancellationID: cancellationID)
        if polkit.owner == nil { await polkit.findOwner() }
        return await withTaskCancellationHandler {
            do throws(BusError) {
                let reply = try await polkit.call(
                    CheckAuthorization.self, arguments, at: authorityPath,
                    deadline: interactive ? Self.questionDeadline : deadline)
                muteUntil = .now
                return reply.value.isAuthorized ? .granted : .denied
            } catch {
                if !interactive, error.name == .noReply {
                    muteUntil = ContinuousClock.now.advanced(by: patience.memory)
                }
                log.warning("polkit gave no answer", ["error": "\(error)"])
                return .unanswered
            }
        } onCancel: {
            BusQueue.task {
                await self.withdraw(cancellationID)
            }
        }
    }

    private var deadline: Duration {
        ContinuousClock.now < muteUntil ? patience.later : patience.atFirst
    }

    private func withdraw(_ cancellationID: String) async {
        _ = try? await polkit.call(
            CancelCheckAuthorization.self, Single(cancellationID), at: authorityPath,
            deadline: .seconds(5))
    }
}
