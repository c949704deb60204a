// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// A reader's own memory while a finger is enrolled: which of its prints are in the way, and may go.
///
/// What belongs to somebody else, on this system or another, is never touched. The user's own, whose
/// files are lost, may go when that was asked for.
@BusQueue struct ReaderMemory {
    private let open: any OpenReader
    private let user: UserName
    private let known: [StoredPrint]
    private let turn: ManagementTurn
    private let log: Log

    /// `known` are everybody's prints for the reader.
    init(
        _ open: any OpenReader, of user: UserName, known: [StoredPrint], in turn: ManagementTurn,
        _ log: Log
    ) {
        self.open = open
        self.user = user
        self.known = known
        self.turn = turn
        self.log = log
    }

    /// Deletes the user's prints that only the reader has.
    func discardLeftovers() async throws(ManagementError) {
        do throws(ReaderFailure) {
            for print in try await leftovers() { try await discard(print) }
        } catch {
            throw ManagementError(error)
        }
    }

    /// Refuses a finger that is enrolled already, other than in place of itself.
    func requireNew(
        _ recognition: Recognition, as print: PrintID, discardingLeftovers: Bool
    ) async throws(ManagementError) {
        switch recognition {
        case .known(print), .unknown, .badScan: return
        case .known: throw .fingerAlreadyEnrolled
        case .leftover(let leftover):
            guard leftover.user == user else { throw .fingerAlreadyEnrolled }
            guard discardingLeftovers else { throw .leftoverPrints }
            do throws(ReaderFailure) {
                try await discard(leftover)
            } catch {
                throw ManagementError(error)
            }
        }
    }

    /// Where the reader refuses a print for those that it has, says so if leftovers could be the
    /// reason.
    func explaining(
        _ work: () async throws(ManagementError) -> StoredPrint
    ) async throws(ManagementError) -> StoredPrint {
        do throws(ManagementError) {
            return try await work()
        } catch {
            guard error == .readerStorageFull || error == .fingerAlreadyEnrolled,
                let leftovers = try? await leftovers(), !leftovers.isEmpty
            else { throw error }
            throw .leftoverPrints
        }
    }

    private func leftovers() async throws(ReaderFailure) -> [LeftoverPrint] {
        turn.expect(.work)
        return try await open.contents(knowing: known)?.leftovers.filter { $0.user == user } ?? []
    }

    private func discard(_ leftover: LeftoverPrint) async throws(ReaderFailure) {
        turn.expect(.work)
        do throws(ReaderFailure) {
            try await open.delete(leftover)
            log.notice("a leftover print was deleted from the reader's memory")
        } catch {
            guard error == .notOnReader else { throw error }
        }
    }
}
