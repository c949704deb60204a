// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

extension Management {
    /// Empties a reader's own memory, whoever's prints are in it and whichever system's, and deletes
    /// everybody's prints for such a reader, which are of no use without. What nobody else may take
    /// away an administrator can.
    func erase(_ path: ObjectPath, for call: ManagementCall) async throws(ManagementError) {
        try await admit(call, to: .manageOthers)
        let reader = try await pickReader(path)
        guard reader.features.contains(.storage) else { throw .notSupported }
        let caller = call.caller.account
        var others: Set<UserName> = []
        try await services.history.noting(.delete, of: caller, by: call) {
            () throws(ManagementError) in
            try await askForPassword(to: .delete, call)
            let prints = try await stored(for: reader.kind)
            try await inTurn(for: call.caller) { turn throws(ManagementError) in
                try await self.erase(reader, and: prints.map(\.id), in: turn)
            }
            others = Set(prints.map(\.id.user)).subtracting([caller.name])
        }
        services.log.notice(
            "reader erased", ["reader": "\(reader.id.number)", "driver": reader.kind.driver],
            id: .fingersChanged)
        for name in others {
            guard let account = await services.accounts.account(name: name) else { continue }
            // Each has it in the own history.
            try await services.history.noting(.delete, of: account, by: call) {}
        }
    }

    private func erase(
        _ reader: ReaderDescription, and prints: [PrintID], in turn: ManagementTurn
    ) async throws(ManagementError) {
        let open = try await open(reader.id, in: turn)
        var failure: ManagementError?
        turn.expect(.work)
        do throws(ReaderFailure) {
            try await open.erase()
        } catch {
            services.log.warning("a reader could not be erased", ["failure": "\(error)"])
            failure =
                switch error {
                case .io: .storageFailed
                case .notSupported: .notSupported
                default: ManagementError(error)
                }
        }
        await close(open, reader.id, in: turn)
        if let failure { throw failure }
        do throws(ManagementError) {
            try await deleteFromDisk(prints)
        } catch {
            failure = error
        }
        for user in Set(prints.map(\.user)) { await services.biometry.prints.refresh(user) }
        if let failure { throw failure }
    }
}
