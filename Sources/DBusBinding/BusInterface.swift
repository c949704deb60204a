// SPDX-License-Identifier: Apache-2.0

/// What a served call knows besides its arguments.
@BusQueue package final class BusCall {
    /// The connection that called, as the bus says it.
    package let sender: UniqueName
    /// Whether the caller is ready to wait for a question to its user.
    package let allowsInteraction: Bool
    private let message: BusMessage
    private let connection: BusConnection
    private var isAnswered = false

    init(_ message: BusMessage, from sender: UniqueName, on connection: BusConnection) {
        self.message = message
        self.sender = sender
        self.connection = connection
        allowsInteraction = message.allowsInteraction
        connection.unansweredCalls[ObjectIdentifier(self)] = self
    }

    func decode<Body: BusBody>(_ type: Body.Type) throws(DecodingFailure) -> Body {
        try message.decode(type)
    }

    /// Answers, once; later answers are dropped.
    func answer(_ result: Result<some BusBody, BusError>) {
        guard !isAnswered else { return }
        isAnswered = true
        connection.unansweredCalls[ObjectIdentifier(self)] = nil
        switch result {
        case .success(let body): connection.reply(to: message, with: body)
        case .failure(let error): connection.reply(to: message, with: error)
        }
    }
}

/// A property of a served interface.
package struct BusProperty {
    /// What the `EmitsChangedSignal` annotation says.
    package enum Emission: String, Sendable { case value = "true", constant = "const" }

    let name: MemberName
    let signature: String
    let emission: Emission
    let get: @BusQueue () -> BusValue

    package init(
        _ name: MemberName, _ signature: String, _ emission: Emission = .value,
        get: @escaping @BusQueue () -> BusValue
    ) {
        self.name = name
        self.signature = signature
        self.emission = emission
        self.get = get
    }
}

/// An interface as it is served: its table, from which calls are dispatched and the
/// introspection is made, so that the two cannot differ.
package struct BusInterface {
    struct Method {
        let name: MemberName
        let inputs: [BusParameter]
        let outputs: [BusParameter]
        let serve: @BusQueue (BusCall) -> Void
    }
    struct Signal {
        let name: MemberName
        let parameters: [BusParameter]
    }

    let name: InterfaceName
    private(set) var methods: [Method] = []
    private(set) var signals: [Signal] = []
    private(set) var properties: [BusProperty] = []
    private var methodsByName: [String: Method] = [:]

    package init(_ name: InterfaceName) { self.name = name }

    /// Adds a method. The handler may take as long as it likes; it answers exactly once.
    package mutating func serve<M: BusMethod>(
        _ type: M.Type,
        _ handler:
            @escaping @Sendable @BusQueue (M.Arguments, BusCall) async throws(BusError) -> M.Reply
    ) {
        precondition(M.interface == name, "a method of another interface")
        let method = Method(
            name: M.member, inputs: M.Arguments.parameters, outputs: M.Reply.parameters
        ) { call in
            let arguments: M.Arguments
            do throws(DecodingFailure) {
                arguments = try call.decode(M.Arguments.self)
            } catch {
                let text = "\(M.member.rawValue) takes (\(error.expected)), not (\(error.found))"
                call.answer(Result<NoValues, BusError>.failure(BusError(.invalidArgs, text)))
                return
            }
            // A job of its own, in order of arrival. Not `Task.immediate`: begun outside of a job,
            // Swift does not know that it is on the bus queue (6.3), the first call of an `async`
            // function goes round through the queue, and a later call overtakes this one.
            BusQueue.task {
                do throws(BusError) {
                    call.answer(.success(try await handler(arguments, call)))
                } catch {
                    call.answer(Result<NoValues, BusError>.failure(error))
                }
            }
        }
        methods.append(method)
        methodsByName[M.member.rawValue] = method
    }

    /// Declares a signal that the object sends.
    package mutating func sends<S: BusSignal>(_ type: S.Type) {
        precondition(S.interface == name, "a signal of another interface")
        signals.append(Signal(name: S.member, parameters: S.Arguments.parameters))
    }

    package mutating func has(_ property: BusProperty) { properties.append(property) }

    func method(named name: String) -> Method? { methodsByName[name] }
}
