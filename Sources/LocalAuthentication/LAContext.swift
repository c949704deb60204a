// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The longest time for which ``LAContext/touchIDAuthenticationAllowableReuseDuration`` can be set,
/// in seconds: 300.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// Asks whether the user is there, by a finger or the account's password.
///
/// The names, values and rules are those of Apple's class of the same name. It talks to the service
/// `org.example.LocalAuth`; the application needs no entitlement, main loop or window for it, and all
/// of this may be called on any thread.
///
/// Keep a reference to the context as long as an evaluation runs: when the last one goes, the
/// evaluation ends with `LAError.Code.appCancel`.
///
/// A context in which the user was authenticated stays so: it says yes again without asking. Make a
/// new context whenever the user is to be asked anew.
@preconcurrency open class LAContext: NSObject, @unchecked Sendable {
    // Unchecked because a class that can be subclassed cannot be checked: this is all there is, and
    // it is immutable and Sendable.
    let state: ContextState

    /// Makes a context in which nobody has been authenticated yet.
    public override init() {
        state = ContextState(link: .shared)
        super.init()
    }

    /// The same on another way to the service.
    package init(link: ServiceLink) {
        state = ContextState(link: link)
        super.init()
    }

    deinit { state.invalidate("the context was let go while its evaluation ran") }

    // MARK: Evaluating

    /// Whether ``evaluatePolicy(_:localizedReason:reply:)`` could be started now.
    ///
    /// It asks nobody and opens no reader. What it says holds for this moment. Where it is not to
    /// ask the service for long, it gives up after 30 seconds.
    ///
    /// - Parameters:
    ///   - policy: what is to suffice.
    ///   - error: where the reason for a *no* is left; `nil` when it does not matter. On a *yes* it
    ///     is set to `nil`.
    /// - Returns: whether it could.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let obstacle = state.obstacle(to: policy)
        // SAFETY: the caller's variable outlives the call.
        unsafe error?.pointee = obstacle.map(\.bridged)
        return obstacle == nil
    }

    /// Asks the user, and says later what came of it.
    ///
    /// It returns at once.
    ///
    /// - Parameters:
    ///   - policy: what suffices.
    ///   - localizedReason: why the user is asked, in the user's language; at most 1 KiB. Without
    ///     anything to read in it, the reply is `LAError.Code.notInteractive`.
    ///   - reply: called exactly once, on a private queue: with `true` and `nil`, or with `false` and
    ///     an ``LAError``.
    @preconcurrency open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let evaluation = state.makeEvaluation()
        evaluation.whenEnded { outcome in
            switch outcome {
            case .success: reply(true, nil)
            case .failure(let error): reply(false, error)
            }
        }
        state.begin(evaluation, policy, reason: localizedReason, reuses: true)
    }

    /// Asks the user, and waits for what comes of it.
    ///
    /// Cancelling the task ends it with `LAError.Code.appCancel`; the context can be used again.
    ///
    /// - Parameters:
    ///   - policy: what suffices.
    ///   - localizedReason: why the user is asked; see
    ///     ``evaluatePolicy(_:localizedReason:reply:)``.
    /// - Returns: `true`.
    /// - Throws: an ``LAError`` for every other ending.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        let evaluation = state.makeEvaluation()
        _ = try await state.outcome(of: evaluation) {
            state.begin(evaluation, policy, reason: localizedReason, reuses: true)
        }
        return true
    }

    /// Ends what runs, with `LAError.Code.appCancel`; whatever comes later ends with
    /// `LAError.Code.invalidContext`. A second time does nothing.
    open func invalidate() { state.invalidate("the context was invalidated") }

    // MARK: The prompt

    /// The title of the button with which the user asks for another way. `nil`: the prompt's own;
    /// empty: there is no such button.
    ///
    /// Under ``LAPolicy/deviceOwnerAuthentication`` an empty one means that no password is taken
    /// beside a finger that can be used.
    open var localizedFallbackTitle: String? {
        get { state.settings.fallbackTitle }
        set { state.change { $0.fallbackTitle = newValue } }
    }

    /// The title of the button with which the user cancels. `nil` or empty: the prompt's own.
    open var localizedCancelTitle: String? {
        get { state.settings.cancelTitle }
        set { state.change { $0.cancelTitle = newValue } }
    }

    /// Why the user is asked, where no call says so: on Linux there is no such call. Empty at first.
    ///
    /// ``evaluatePolicy(_:localizedReason:reply:)`` has a reason of its own and does not look at it.
    open var localizedReason: String {
        get { state.reason }
        set { state.reason = newValue }
    }

    /// Whether the user must not be asked. `false` at first.
    ///
    /// When it is `true`, an evaluation succeeds only where it need not ask, and else ends with
    /// `LAError.Code.notInteractive`.
    open var interactionNotAllowed: Bool {
        get { state.settings.interactionNotAllowed }
        set { state.change { $0.interactionNotAllowed = newValue } }
    }

    // MARK: Reuse

    /// How long ago, in seconds, the user may have been authenticated to be authenticated now; 0 at
    /// first, and at most ``LATouchIDAuthenticationMaximumAllowableReuseDuration``.
    ///
    /// On Linux what counts is an earlier success of this process, in whatever context. The service
    /// forgets it when the session is left or locked, when the machine sleeps, and when the user's
    /// fingers change. It counts in whole seconds, rounded down.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.settings.reuseDuration }
        set {
            let most = LATouchIDAuthenticationMaximumAllowableReuseDuration
            // What is not a number is no time.
            state.change { $0.reuseDuration = newValue > 0 ? min(newValue, most) : 0 }
        }
    }

    // MARK: What the machine has

    /// The biometry of this machine, as ``canEvaluatePolicy(_:error:)`` found it, whatever that
    /// returned; ``LABiometryType/none`` before.
    open var biometryType: LABiometryType { state.biometryType }

    /// The state of the enrolled fingers, 32 bytes, as the last successful evaluation by a finger or
    /// the last successful ``canEvaluatePolicy(_:error:)`` found it; `nil` before.
    ///
    /// It is another one after every finger that was added or removed; see ``LADomainState``.
    open var evaluatedPolicyDomainState: Data? { state.policyDomainState }

    /// The state of what the user can be authenticated by, now.
    ///
    /// It asks the service, as ``canEvaluatePolicy(_:error:)`` does.
    open var domainState: LADomainState {
        LADomainState(state.environment ?? .nothing)
    }

    // MARK: Credentials

    /// Keeps a credential for this context until it is invalidated.
    ///
    /// On Linux nothing uses it yet: the account's password is never taken from an application.
    ///
    /// - Parameters:
    ///   - credential: the credential; `nil` takes it back.
    ///   - type: its kind.
    /// - Returns: whether it was kept: not in an invalidated context.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        state.setCredential(credential, type)
    }

    /// Whether a credential of this kind is kept.
    ///
    /// - Parameter type: the kind.
    /// - Returns: whether there is one.
    open func isCredentialSet(_ type: LACredentialType) -> Bool { state.isCredentialSet(type) }

    /// It has no effect, as on Apple's systems since 2015: the number of misses is the
    /// administrator's to choose.
    @available(*, deprecated, message: "It has no effect.")
    open var maxBiometryFailures: NSNumber? {
        get { nil }
        set {}
    }
}
