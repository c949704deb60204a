// SPDX-License-Identifier: Apache-2.0

/// What one touch came to. A bad scan is not a verdict about the finger.
package enum ScanVerdict: Hashable, Sendable {
    /// The finger is the one of this print, which was in the gallery.
    case matched(PrintID)
    case missed
    case badScan(RetryCause)
}

/// Why a scan was no good and the finger must be put on again.
package enum RetryCause: String, CaseIterable, Hashable, Sendable {
    case general
    case tooShort = "too-short"
    case tooFast = "too-fast"
    case notCentered = "not-centered"
    case removeFinger = "remove-finger"
}

/// What the sensor sees.
package enum SensorState: Hashable, Sendable {
    case idle
    case fingerNeeded
    case fingerPresent
}

/// One step of an enrolment.
package struct EnrolmentStage: Hashable, Sendable {
    package let done: UInt32
    package let total: UInt32
    /// Set when the touch did not count.
    package let fault: RetryCause?

    package init(done: UInt32, total: UInt32, fault: RetryCause?) {
        self.done = done
        self.total = total
        self.fault = fault
    }
}

/// Why a reader could not do its work. None of these is a verdict about a finger.
package enum ReaderFailure: Error, CaseIterable, Hashable, Sendable {
    /// The reader was unplugged, or is not known.
    case removed
    /// Another program holds it, or it still works on something else.
    case busy
    case tooHot
    /// We asked it to stop.
    case cancelled
    /// None of the prints given fits this reader.
    case noUsablePrints
    /// The finger is enrolled already (only while enrolling).
    case duplicate
    /// The reader's own memory is full (only while enrolling).
    case storageFull
    /// The reader's memory does not have the print.
    case notOnReader
    case notSupported
    /// Nobody can get at it: it is under a closed lid.
    case inaccessible
    /// Anything else: protocol, transfer, a driver's fault.
    case io
}

/// The fingerprint readers of this machine.
package protocol ReaderDriving: Sendable {
    /// Finds the readers, and tells of each one and of every later change, in order, until
    /// `stop`. Returns when those present have been told.
    func start(report: @escaping @Sendable (ReaderChange) -> Void) async
    /// Opens a reader, which is then nobody else's until `close`.
    func open(_ reader: ReaderID) async throws(ReaderFailure) -> any OpenReader
    /// The machine is about to sleep: work at hand ends as cancelled, and until `resume` none begins
    /// and nothing can be opened (`.busy`) or closed. Returns when the work has ended, and after a
    /// second at most, whatever a driver does.
    func suspend() async
    /// The machine is awake again.
    func resume() async
    /// Lets go of every reader.
    func stop() async
}

/// A reader that has been opened. Every call returns only when the reader has really ended the
/// work, also when the task was cancelled; that can be long after it was asked to.
package protocol OpenReader: Sendable {
    /// Compares one touch with the gallery. Cancelling the task ends it with `.cancelled`, unless
    /// the touch has been found to be a miss by then.
    func scan(
        against gallery: [StoredPrint], sensor: @escaping @Sendable (SensorState) -> Void
    ) async throws(ReaderFailure) -> ScanVerdict
    /// Makes a print of a finger over several touches. Cancelling the task ends it with
    /// `.cancelled`.
    func enrol(
        _ print: PrintID, stage: @escaping @Sendable (EnrolmentStage) -> Void
    ) async throws(ReaderFailure) -> StoredPrint
    /// Deletes the print from the reader's own memory; at once where it has none.
    func delete(_ print: StoredPrint) async throws(ReaderFailure)
    func close() async
}
