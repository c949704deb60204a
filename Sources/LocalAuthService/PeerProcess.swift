// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// The process behind a connection, by the descriptor that the bus gave of it.
final class PeerProcess: ProcessHandle {
    private let descriptor: SharedDescriptor

    init(_ descriptor: SharedDescriptor) { self.descriptor = descriptor }

    var isAlive: Bool { !hasProcessEnded(descriptor.rawValue) }
}

extension CallerProcess {
    /// `nil` where the bus does not know the process.
    init?(_ credentials: PeerCredentials) {
        guard let id = credentials.processID else { return nil }
        self.init(
            id: id, label: credentials.securityLabel,
            handle: credentials.processDescriptor.map { PeerProcess($0) })
    }
}
