// SPDX-License-Identifier: Apache-2.0

internal import LocalAuthContract
internal import SystemSupport

/// Something that a user may do after having been authenticated for it.
///
/// A right is authorized anew each time, whatever was authorized before, and stays so until
/// ``deauthorize()`` or until it is let go.
public class LARight: NSObject, @unchecked Sendable {
    // Unchecked because it has a subclass, which is this module's; all there is is Sendable.

    /// How far a right is.
    public enum State: Int, Sendable {
        /// Nobody has asked for it yet.
        case unknown = 0
        /// The user is being asked.
        case authorizing = 1
        /// It may be made use of.
        case authorized = 2
        /// It may not.
        case notAuthorized = 3
    }

    private struct Values {
        var state = State.unknown
        var tag = 0
        /// In which the user is being asked; another one each time.
        var context: LAContext?
        /// The fingers that count, where only some do.
        var domainState: Data?
    }

    let requirement: LAAuthenticationRequirement
    private let link: ServiceLink
    private let values: Locked<Values>

    /// Makes a right that a finger or the account's password authorizes.
    public convenience override init() { self.init(requirement: .default) }

    /// Makes a right.
    ///
    /// - Parameter requirement: what authorizes it.
    public convenience init(requirement: LAAuthenticationRequirement) {
        self.init(requirement, link: .shared)
    }

    package init(
        _ requirement: LAAuthenticationRequirement, tag: Int = 0, domainState: Data? = nil,
        link: ServiceLink
    ) {
        self.requirement = requirement
        self.link = link
        values = Locked(Values(tag: tag, domainState: domainState))
        super.init()
    }

    /// How far it is.
    public var state: State { values.withLock(\.state) }

    /// A number of the application's own. 0 at first.
    public var tag: Int {
        get { values.withLock(\.tag) }
        set { values.withLock { $0.tag = newValue } }
    }

    /// Asks the user.
    ///
    /// - Parameter localizedReason: why, in the user's language.
    /// - Throws: an ``LAError`` when the right is not authorized.
    public func authorize(localizedReason: String) async throws {
        let context = LAContext(link: link)
        values.withLock { values in
            values.context = context
            values.state = .authorizing
        }
        do {
            let options = LAEvaluationOptions(requiredDomainState: try await boundState())
            _ = try await context.evaluate(
                requirement.policy, localizedReason: localizedReason, options: options)
            try end(context, .authorized)
        } catch {
            try end(context, .notAuthorized)
            throw error
        }
    }

    /// The end of one attempt; what another one or `deauthorize` has taken the place of ends so.
    private func end(_ context: LAContext, _ state: State) throws {
        let isCurrent = values.withLock { values in
            guard values.context === context else { return false }
            values.state = state
            values.context = nil
            return true
        }
        if !isCurrent, state == .authorized {
            throw LAError(.appCancel, detail: "the right was asked for anew, or given up")
        }
    }

    /// Whether ``authorize(localizedReason:)`` could be started now. It asks nobody.
    ///
    /// - Throws: an ``LAError`` when it could not.
    public func checkCanAuthorize() async throws {
        let wanted = try await boundState()
        let policy = requirement.policy
        let availability = await link.inquire { await $0.availability(of: policy) }
        try availability.answer.get()
        if let wanted, wanted != availability.environment.domainState {
            throw LAError(ServiceError.domainStateChanged)
        }
    }

    /// Gives the authorization back. What is being asked ends.
    public func deauthorize() async {
        let context = values.withLock { values in
            defer { values.context = nil }
            values.state = .notAuthorized
            return values.context
        }
        context?.invalidate()
    }

    /// The fingers that count, where only some do: those of now, if that was not decided before.
    ///
    /// - Throws: an ``LAError`` when it cannot be found out which there are.
    func boundState() async throws -> Data? {
        guard requirement.kind == .biometryCurrentSet else { return nil }
        if let known = values.withLock(\.domainState) { return known }
        let environment = await link.inquire { await $0.environment() }
        guard let now = environment.domainState else {
            throw LAError(
                .biometryNotAvailable, detail: "the state of the enrolled fingers is not known")
        }
        return values.withLock { values in
            values.domainState = values.domainState ?? now
            return values.domainState
        }
    }
}

/// A right that ``LARightStore`` keeps.
///
/// On Linux it has neither a key nor a secret: there is nothing yet that would give them out only to
/// an authenticated user.
public final class LAPersistedRight: LARight, @unchecked Sendable {
    let identifier: String

    init(
        _ identifier: String, _ requirement: LAAuthenticationRequirement, tag: Int,
        domainState: Data?, link: ServiceLink
    ) {
        self.identifier = identifier
        super.init(requirement, tag: tag, domainState: domainState, link: link)
    }
}
