// SPDX-License-Identifier: Apache-2.0

internal import LocalAuthModel
internal import Synchronization

/// The right to drive one reader, for one holder. Dropping it gives the reader back.
final class ReaderLease: OpenReader {
    private let reader: FprintReader
    private let turn: FprintReader.Turn
    private let isClosed = Atomic(false)

    init(_ reader: FprintReader, _ turn: FprintReader.Turn) {
        self.reader = reader
        self.turn = turn
    }

    deinit {
        guard !isClosed.load(ordering: .relaxed) else { return }
        ReaderQueue.task { [reader, turn] in
            await reader.close(turn)
        }
    }

    func scan(
        against gallery: [StoredPrint], sensor: @escaping @Sendable (SensorState) -> Void
    ) async throws(ReaderFailure) -> ScanVerdict {
        try await reader.scan(turn, against: gallery, sensor: sensor)
    }

    func enrol(
        _ print: PrintID, stage: @escaping @Sendable (EnrolmentStage) -> Void
    ) async throws(ReaderFailure) -> StoredPrint {
        try await reader.enrol(turn, print, stage: stage)
    }

    func recognise(among prints: [StoredPrint]) async throws(ReaderFailure) -> Recognition {
        try await reader.recognise(turn, among: prints)
    }

    func contents(knowing prints: [StoredPrint]) async throws(ReaderFailure) -> ReaderContents? {
        try await reader.contents(turn, knowing: prints)
    }

    func delete(_ print: StoredPrint) async throws(ReaderFailure) {
        try await reader.delete(turn, print)
    }

    func delete(_ leftover: LeftoverPrint) async throws(ReaderFailure) {
        try await reader.delete(turn, leftover)
    }

    func erase() async throws(ReaderFailure) { try await reader.erase(turn) }

    func close() async {
        await reader.close(turn)
        isClosed.store(true, ordering: .relaxed)
    }
}
