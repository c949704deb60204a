// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// What managing prints needs of the service.
@BusQueue struct ManagementServices {
    let gate: Gate
    let evaluations: EvaluationRunner
    let accounts: any AccountLookup
    let biometry: BiometryState
    let line: ReaderLine
    let readers: any ReaderDriving
    let prints: any PrintStoring
    let history: HistoryKeeper
    /// How long a person may take from one touch of an enrolment to the next.
    let patience: Duration
    /// How long a person may take for the password.
    let passwordPatience: Duration
    let driverPatience: DriverPatience
    let log: Log
}

/// Lists, enrols and deletes prints. Straight-line work: each step waits for the one before, and
/// ends early when its task is cancelled.
@BusQueue final class Management {
    let services: ManagementServices
    /// The enrolment that has a reader, if one has.
    var scan: EnrolmentScan?

    init(_ services: ManagementServices) { self.services = services }

    /// The user's enrolled fingers on any reader, in the order of the hand.
    func list(
        _ user: String, for call: ManagementCall
    ) async throws(ManagementError) -> [Finger] {
        let account = try await admit(call, to: .evaluate, on: user)
        guard let prints = await services.biometry.prints.prints(of: account.name) else {
            throw .storageFailed
        }
        return Set(prints.map(\.finger)).sorted { $0.rawValue < $1.rawValue }
    }

    /// Makes a print of the finger, in place of an older one of the same finger.
    func enrol(
        _ finger: Finger, of user: String, _ options: EnrolmentOptions, for call: ManagementCall,
        progress: @escaping @Sendable @BusQueue (EnrolmentStage) -> Void
    ) async throws(ManagementError) {
        // Root may enrol from anywhere.
        call.mustStayPresent = !call.caller.account.id.isRoot
        let account = try await admit(call, to: .manage, on: user)
        let reader = try await pickReader(options.reader)
        let print = PrintID(user: account.name, reader: reader.kind, finger: finger)
        try await services.history.noting(.enroll, of: account, by: call) {
            () throws(ManagementError) in
            try await askForPassword(to: .enroll, call)
            try await inTurn(for: call.caller) { turn throws(ManagementError) in
                try await self.enrol(
                    print, on: reader, discardingLeftovers: options.discardsLeftovers, in: turn,
                    progress: progress)
            }
        }
        services.log.notice(
            "finger enrolled",
            ["uid": "\(account.id.rawValue)", "finger": finger.wireName], id: .fingersChanged)
    }

    /// Deletes prints, also from the readers' own memories; no fingers means all.
    func delete(
        _ fingers: Set<Finger>, of user: String, for call: ManagementCall
    ) async throws(ManagementError) {
        let account = try await admit(call, to: .manage, on: user)
        try await services.history.noting(.delete, of: account, by: call) {
            () throws(ManagementError) in
            try await requireEnrolled(fingers, of: account)
            try await askForPassword(to: .delete, call)
            try await inTurn(for: call.caller) { turn throws(ManagementError) in
                try await self.delete(fingers, of: account, in: turn)
            }
        }
    }

    /// The lid was opened or closed.
    func reachChanged() {
        guard let scan, services.biometry.obstacle(to: scan.reader) == .inaccessible else { return }
        scan.end(.evaluation(.biometryNotAvailable))
    }

    /// Ends a user's lockout.
    func resetLockout(
        of user: String, for call: ManagementCall
    ) async throws(ManagementError) {
        try await admit(call, to: .resetLockout)
        let own = call.caller.account
        let isOwn = user.isEmpty || user == own.name.rawValue
        let account = isOwn ? own : try await account(named: user)
        try await services.history.noting(.resetLockout, of: account, by: call) {
            () throws(ManagementError) in
            do throws(StorageFailure) {
                try await services.biometry.lockout.clear(account)
            } catch {
                throw .storageFailed
            }
        }
    }

    /// What was done about the user, newest first; 0 is everything that is kept.
    func history(
        of user: String, limit: UInt32, for call: ManagementCall
    ) async throws(ManagementError) -> [HistoryEntry] {
        let account = try await admit(call, to: .evaluate, on: user)
        return await services.history.entries(about: account, limit: limit)
    }

    // MARK: Who may

    func isPresent(_ caller: Caller) async -> Bool {
        do throws(EvaluationError) {
            try await services.gate.requirePresence(of: caller)
            return true
        } catch {
            return false
        }
    }

    /// Lets the caller do `own` with its own prints, or `manageOthers` with another user's. Only
    /// who may learns whether there is such a user.
    private func admit(
        _ call: ManagementCall, to own: Action, on user: String
    ) async throws(ManagementError) -> Account {
        var account = call.caller.account
        if user.isEmpty || user == account.name.rawValue {
            try await admit(call, to: own)
        } else {
            try await admit(call, to: .manageOthers)
            account = try await self.account(named: user)
        }
        services.biometry.states.note(account)
        return account
    }

    private func account(named user: String) async throws(ManagementError) -> Account {
        guard let name = UserName(user), let account = await services.accounts.account(name: name)
        else { throw .noSuchUser }
        return account
    }

    func admit(
        _ call: ManagementCall, to action: Action
    ) async throws(ManagementError) {
        do throws(EvaluationError) {
            _ = try await services.gate.admit(
                call.caller, to: action, interactive: call.isInteractive,
                mustBePresent: call.mustStayPresent)
        } catch {
            throw .evaluation(error)
        }
    }

    /// A change of prints takes the caller's own password, each time: a finger never authorises a
    /// finger, so that polkit's word, which can rest on one, is not enough. Only root is not asked.
    func askForPassword(
        to purpose: EvaluationPurpose, _ call: ManagementCall
    ) async throws(ManagementError) {
        guard !call.caller.account.id.isRoot, services.gate.asksForPassword,
            let connection = UniqueName(call.caller.connection)
        else { return }
        do throws(EvaluationError) {
            _ = try await services.evaluations.run(
                EvaluationRequest(passwordTo: purpose, within: services.passwordPatience),
                from: connection, interactive: false)
        } catch {
            throw .evaluation(error)
        }
        guard !Task.isCancelled else { throw .evaluation(.appCancel) }
    }

    /// Nobody is asked for a password to delete what is not there.
    private func requireEnrolled(
        _ fingers: Set<Finger>, of account: Account
    ) async throws(ManagementError) {
        guard let listed = await services.biometry.prints.prints(of: account.name) else {
            throw .storageFailed
        }
        guard fingers.isSubset(of: listed.map(\.finger)) else { throw .noSuchFinger }
    }

    /// The reader that was named, or else the first that can be got at.
    func pickReader(
        _ path: ObjectPath?
    ) async throws(ManagementError) -> ReaderDescription {
        let biometry = services.biometry
        await biometry.waitUntilReady()
        let named = path.map(biometry.readers.reader(at:))
        guard
            let reader = named
                ?? biometry.readers.readers.first(where: { biometry.obstacle(to: $0.id) == nil }),
            biometry.obstacle(to: reader.id) == nil
        else { throw .evaluation(.biometryNotAvailable) }
        return reader
    }

    /// Runs `work` when the readers are free, and then lets the next one have them.
    func inTurn(
        for caller: Caller,
        _ work: @escaping @Sendable @BusQueue (ManagementTurn) async throws(ManagementError) -> Void
    ) async throws(ManagementError) {
        let line = services.line
        let id = line.makeID()
        do throws(EvaluationError) {
            try await line.turn(id, user: caller.account.id)
        } catch {
            throw .evaluation(error)
        }
        try await ManagementTurn(
            id, in: line, care: services.biometry.care, patience: services.driverPatience
        ).run(work)
    }

    func open(
        _ reader: ReaderID, in turn: ManagementTurn
    ) async throws(ManagementError) -> any OpenReader {
        // Things may have changed while it waited for its turn.
        guard services.biometry.obstacle(to: reader) == nil,
            !services.biometry.care.outOfOrder.contains(reader)
        else { throw .evaluation(.biometryNotAvailable) }
        turn.hold(reader)
        turn.expect(.work)
        do throws(ReaderFailure) {
            let open = try await services.readers.open(reader)
            guard !turn.isOver else {
                await close(open, reader, in: turn)
                throw ReaderFailure.cancelled
            }
            return open
        } catch {
            turn.letGo(of: reader)
            services.biometry.care.note(error, of: reader)
            throw error == .io ? .evaluation(.biometryNotAvailable) : ManagementError(error)
        }
    }

    func close(_ open: any OpenReader, _ reader: ReaderID, in turn: ManagementTurn) async {
        turn.expect(.work)
        await open.close()
        turn.letGo(of: reader)
    }

    /// Everybody's prints for such a reader.
    func stored(for reader: ReaderKind) async throws(ManagementError) -> [StoredPrint] {
        do throws(StorageFailure) {
            return try await services.prints.load(for: reader)
        } catch {
            throw .storageFailed
        }
    }

    func stored(
        of user: UserName, for readers: Set<ReaderKind>
    ) async throws(ManagementError) -> [StoredPrint] {
        do throws(StorageFailure) {
            return try await services.prints.load(of: user, for: readers)
        } catch {
            throw .storageFailed
        }
    }
}
