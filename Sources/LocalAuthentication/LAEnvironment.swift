// SPDX-License-Identifier: Apache-2.0

/// Is told when what the user can be authenticated by has changed.
public protocol LAEnvironmentObserver: AnyObject, Sendable {
    /// Called on a private queue.
    ///
    /// - Parameters:
    ///   - environment: the environment; its ``LAEnvironment/state-swift.property`` is new already.
    ///   - oldState: what it was before.
    func environment(
        _ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State)
}

extension LAEnvironmentObserver {
    /// Does nothing: an observer may do without.
    public func environment(
        _ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State
    ) {}
}

/// What a user can be authenticated by, and news of it.
///
/// With it, an application shows its button for fingers only where there is one to press, and
/// notices a reader that is plugged in, a finger that is enrolled, and a lockout.
public final class LAEnvironment: NSObject, Sendable {
    /// The environment of the user that the process runs as.
    public static let currentUser = LAEnvironment(link: .shared)

    private let link: ServiceLink
    private let watch: EnvironmentWatch

    package init(link: ServiceLink) {
        self.link = link
        watch = EnvironmentWatch(link: link)
        super.init()
    }

    /// What it is now. It asks the service, as ``LAContext/canEvaluatePolicy(_:error:)`` does;
    /// without the service nothing is there.
    public var state: State {
        State(waitForService { [link] in await link.environment() } ?? .nothing)
    }

    /// From now on tells the observer of changes. It is not kept: when it goes, that ends.
    ///
    /// A second time does nothing.
    ///
    /// - Parameter observer: who is told.
    public func addObserver(_ observer: any LAEnvironmentObserver) {
        watch.add(observer, of: self)
    }

    /// Tells the observer of no more changes.
    ///
    /// - Parameter observer: who was told.
    public func removeObserver(_ observer: any LAEnvironmentObserver) {
        watch.remove(observer)
    }
}
