// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import LocalAuthModel

/// Readers that do what a test says, when it says so.
@BusQueue package final class FakeReaders: ReaderDriving {
    /// A touch, or what else becomes of a scan or an enrolment.
    package typealias Outcome = Result<ScanVerdict, ReaderFailure>

    /// What the readers were asked for, in order.
    package let calls = Journal<String>()
    /// Whether work ends when it is cancelled, as well-behaved drivers' does.
    package var endsWhenCancelled = true
    /// What opening fails with.
    package var openFailure: ReaderFailure?
    /// Whether opening takes until `finishOpening`.
    package var isOpeningHeld = false
    private var heldOpenings: [CheckedContinuation<Void, Never>] = []
    /// The template of what is enrolled.
    package var template: [UInt8] = [1]
    /// What is in every reader's own memory; `nil` where they do not list it.
    package var contents: ReaderContents?
    /// What deleting from a reader's memory fails with.
    package var deleteFailure: ReaderFailure?
    /// Whose finger the next touches are, when that is asked before an enrolment; then nobody's.
    package var recognitions: [Result<Recognition, ReaderFailure>] = []
    /// Whether that takes until somebody ends it.
    package var isRecognitionHeld = false
    /// Whether scans say nothing of what the sensor sees.
    package var isSilent = false
    private let present: [ReaderDescription]
    private var report: (@Sendable (ReaderChange) -> Void)?
    private var scans: [ReaderID: CheckedContinuation<Outcome, Never>] = [:]
    /// Readers whose work was cancelled before it began.
    private var cancelledEarly: Set<ReaderID> = []

    package nonisolated init(_ present: [ReaderDescription]) { self.present = present }

    @BusQueue package func start(report: @escaping @Sendable (ReaderChange) -> Void) async {
        self.report = report
        for reader in present { report(.added(reader)) }
    }

    @BusQueue package func open(_ reader: ReaderID) async throws(ReaderFailure) -> any OpenReader {
        calls.add("open \(reader.number)")
        if isOpeningHeld { await withCheckedContinuation { heldOpenings.append($0) } }
        if let openFailure { throw openFailure }
        return FakeOpenReader(reader, of: self)
    }

    @BusQueue package func suspend() async { calls.add("suspend") }

    @BusQueue package func resume() async { calls.add("resume") }

    @BusQueue package func stop() async { calls.add("stop") }

    /// Lets what is being opened be open.
    package func finishOpening() {
        let held = heldOpenings
        heldOpenings = []
        for opening in held { opening.resume() }
    }

    /// Tells of a change among the readers.
    package func change(_ change: ReaderChange) { report?(change) }

    /// Whether a scan or an enrolment goes on.
    package func isScanning(_ reader: ReaderID) -> Bool { scans[reader] != nil }

    /// Ends the scan or enrolment that goes on.
    package func end(_ reader: ReaderID, _ outcome: Outcome) {
        scans.removeValue(forKey: reader)?.resume(returning: outcome)
    }

    /// A touch with this verdict.
    package func touch(_ reader: ReaderID, _ verdict: ScanVerdict) {
        end(reader, .success(verdict))
    }

    fileprivate func work(_ reader: ReaderID, _ what: String) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                scans[reader] = continuation
                calls.add("\(what) \(reader.number)")
                if cancelledEarly.remove(reader) != nil { cancel(reader) }
            }
        } onCancel: {
            BusQueue.post { self.cancel(reader) }
        }
    }

    private func cancel(_ reader: ReaderID) {
        guard scans[reader] != nil else {
            cancelledEarly.insert(reader)
            return
        }
        calls.add("cancel \(reader.number)")
        if endsWhenCancelled { end(reader, .failure(.cancelled)) }
    }
}

/// One reader that has been opened.
@BusQueue private final class FakeOpenReader: OpenReader {
    private let id: ReaderID
    private let readers: FakeReaders

    init(_ id: ReaderID, of readers: FakeReaders) { (self.id, self.readers) = (id, readers) }

    @BusQueue func scan(
        against gallery: [StoredPrint], sensor: @escaping @Sendable (SensorState) -> Void
    ) async throws(ReaderFailure) -> ScanVerdict {
        if !readers.isSilent { sensor(.fingerNeeded) }
        return try await readers.work(id, "scan").get()
    }

    @BusQueue func enrol(
        _ print: PrintID, stage: @escaping @Sendable (EnrolmentStage) -> Void
    ) async throws(ReaderFailure) -> StoredPrint {
        stage(EnrolmentStage(done: 1, total: 5, fault: nil))
        _ = try await readers.work(id, "enrol").get()
        return StoredPrint(id: print, template: readers.template)
    }

    @BusQueue func recognise(
        among prints: [StoredPrint]
    ) async throws(ReaderFailure) -> Recognition {
        let names = prints.map { "\($0.id.user.rawValue)/\($0.id.finger.rawValue)" }.sorted()
        readers.calls.add("recognise \(id.number) \(names.joined(separator: " "))")
        if readers.isRecognitionHeld { _ = try await readers.work(id, "wait").get() }
        guard !readers.recognitions.isEmpty else { return .unknown }
        return try readers.recognitions.removeFirst().get()
    }

    @BusQueue func contents(
        knowing prints: [StoredPrint]
    ) async throws(ReaderFailure) -> ReaderContents? {
        readers.calls.add("contents \(id.number)")
        return readers.contents
    }

    @BusQueue func delete(_ print: StoredPrint) async throws(ReaderFailure) {
        readers.calls.add("delete \(id.number)")
        if let failure = readers.deleteFailure { throw failure }
    }

    @BusQueue func delete(_ leftover: LeftoverPrint) async throws(ReaderFailure) {
        readers.calls.add("discard \(id.number) \(leftover.template)")
        if let failure = readers.deleteFailure { throw failure }
        readers.contents?.leftovers.removeAll { $0 == leftover }
    }

    @BusQueue func erase() async throws(ReaderFailure) {
        readers.calls.add("erase \(id.number)")
        if let failure = readers.deleteFailure { throw failure }
    }

    @BusQueue func close() async { readers.calls.add("close \(id.number)") }
}
