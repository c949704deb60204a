// SPDX-License-Identifier: Apache-2.0

package import DBusBinding

// polkit's D-Bus interface: https://www.freedesktop.org/software/polkit/docs/latest/,
// "D-Bus API Reference", org.freedesktop.PolicyKit1.Authority.

private let authority: InterfaceName = "org.freedesktop.PolicyKit1.Authority"
private let authorityPath: ObjectPath = "/org/freedesktop/PolicyKit1/Authority"

/// A polkit that answers as a test wants, also not at all, and keeps what it was asked.
@BusQueue package final class FakePolkit {
    /// What to do with a question.
    package enum Answer: Hashable, Sendable {
        case yes
        case no
        /// Keeps it open, as one that its user has not answered, until it is withdrawn or
        /// `answerOpenQuestions` is called.
        case later
    }

    /// Who wants to do what.
    package struct Question: Hashable, Sendable {
        /// The unique name of the connection that a decision is about.
        package let subject: String
        package let action: String
        /// Whether polkit may ask the user.
        package let isInteractive: Bool
        package let cancellationID: String
    }

    package nonisolated static let name: BusName = "org.freedesktop.PolicyKit1"

    package var answer: (Question) -> Answer
    package let questions = Happenings<Question>()
    /// The cancellation ids of the questions that were withdrawn.
    package let withdrawals = Happenings<String>()
    private let connection: BusConnection
    private var open: [(question: Question, resume: (Result<Bool, BusError>) -> Void)] = []

    /// Takes polkit's name on a bus; says yes unless told otherwise.
    package init(
        _ bus: PrivateBus, answer: @escaping (Question) -> Answer = { _ in .yes }
    ) async throws {
        self.answer = answer
        connection = try BusConnection(address: bus.address)
        connection.export(BusObject(authorityPath, [interface]))
        guard try await connection.requestName(Self.name) else {
            throw BusError(.failed, "somebody else is polkit")
        }
    }

    /// Answers the questions that are kept open.
    package func answerOpenQuestions(_ isAuthorized: Bool) {
        let waiting = open
        open = []
        for entry in waiting { entry.resume(.success(isAuthorized)) }
    }

    /// Says that everything that was decided may be different now.
    package func tellChange() { connection.send(Changed.self, NoValues(), from: authorityPath) }

    /// Waits until the bus has passed on what was said before.
    package func settle() async throws {
        _ = try await connection.credentials(of: connection.uniqueName, deadline: .seconds(30))
    }

    /// Leaves the bus, as a process that dies does.
    package func close() { connection.close() }

    private var interface: BusInterface {
        var interface = BusInterface(authority)
        interface.serve(CheckAuthorization.self) { [weak self] arguments, _ throws(BusError) in
            guard let self else { throw BusError(.failed, "the test is over") }
            return Single(PolkitResult(isAuthorized: try await decide(arguments)))
        }
        interface.serve(CancelCheckAuthorization.self) { [weak self] id, _ throws(BusError) in
            self?.withdraw(id.value)
            return NoValues()
        }
        interface.sends(Changed.self)
        return interface
    }

    private func decide(_ arguments: CheckAuthorization.Arguments) async throws(BusError) -> Bool {
        guard case .string(let subject)? = arguments.subject.details["name"] else {
            throw BusError(.invalidArgs, "a subject without a bus name")
        }
        let question = Question(
            subject: subject, action: arguments.action, isInteractive: arguments.flags & 1 != 0,
            cancellationID: arguments.cancellationID)
        let answer = answer(question)
        guard answer == .later else {
            questions.note(question)
            return answer == .yes
        }
        return try await withCheckedContinuation { continuation in
            open.append((question, { continuation.resume(returning: $0) }))
            questions.note(question)
        }.get()
    }

    private func withdraw(_ id: String) {
        if let index = open.firstIndex(where: { $0.question.cancellationID == id }) {
            let error = BusError(
                "org.freedesktop.PolicyKit1.Error.Cancelled", "the question was withdrawn")
            open.remove(at: index).resume(.failure(error))
        }
        withdrawals.note(id)
    }
}

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
        init(from reader: inout MessageReader) throws(DecodingFailure) {
            subject = try reader.read()
            action = try reader.read()
            _ = try reader.read([String: String].self)
            flags = try reader.read()
            cancellationID = try reader.read()
        }
        func encode(to writer: inout MessageWriter) {}
    }
    typealias Reply = Single<PolkitResult>
}

private enum CancelCheckAuthorization: BusMethod {
    static let interface = authority
    static let member: MemberName = "CancelCheckAuthorization"
    typealias Arguments = Single<String>
    typealias Reply = NoValues
}

private enum Changed: BusSignal {
    static let interface = authority
    static let member: MemberName = "Changed"
    typealias Arguments = NoValues
}

/// `(sa{sv})`: whom a decision is about.
private struct PolkitSubject: BusType {
    static let signature = "(sa{sv})"
    let details: [String: BusValue]
    init(from reader: inout MessageReader) throws(DecodingFailure) {
        var inner = try reader.structure()
        _ = try inner.read(String.self)
        details = try inner.read()
    }
    func encode(to writer: inout MessageWriter) {}
}

/// `(bba{ss})`: whether it is authorized, whether it could become so by a question, details.
private struct PolkitResult: BusType {
    static let signature = "(bba{ss})"
    let isAuthorized: Bool
    init(isAuthorized: Bool) { self.isAuthorized = isAuthorized }
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
