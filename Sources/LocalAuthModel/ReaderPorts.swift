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

/// A print in a reader's own memory that this system has no file of: another system's, or one whose
/// file was lost.
package struct LeftoverPrint: Hashable, Sendable, CustomStringConvertible {
    /// Whose it says it is; `nil` when it does not say. Whatever has used the reader can have
    /// written that.
    package let user: UserName?
    /// In libfprint's serialised form.
    package let template: [UInt8]

    package init(user: UserName?, template: [UInt8]) {
        self.user = user
        self.template = template
    }

    package var description: String { "LeftoverPrint" }
}

/// What is in a reader's own memory.
package struct ReaderContents: Hashable, Sendable {
    /// Of the prints that were asked about, those that are there.
    package var known: Set<PrintID>
    package var leftovers: [LeftoverPrint]

    package init(known: Set<PrintID>, leftovers: [LeftoverPrint]) {
        self.known = known
        self.leftovers = leftovers
    }
}

/// Whose finger a touch was.
package enum Recognition: Hashable, Sendable {
    /// The finger of this print, which was in the gallery.
    case known(PrintID)
    /// A finger that only the reader's memory knows.
    case leftover(LeftoverPrint)
    case unknown
    case badScan(RetryCause)
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
    /// The reader's memory does not have the print, or any print of the gallery.
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
    /// the touch has been found to be a miss by then. `.notOnReader` when the reader compares with
    /// prints in its own memory, and none of the gallery is there.
    func scan(
        against gallery: [StoredPrint], sensor: @escaping @Sendable (SensorState) -> Void
    ) async throws(ReaderFailure) -> ScanVerdict
    /// Makes a print of a finger over several touches. Cancelling the task ends it with
    /// `.cancelled`.
    func enrol(
        _ print: PrintID, stage: @escaping @Sendable (EnrolmentStage) -> Void
    ) async throws(ReaderFailure) -> StoredPrint
    /// Finds out whose finger one touch is, among these prints and in the reader's own memory.
    /// Cancelling the task ends it with `.cancelled`.
    func recognise(among prints: [StoredPrint]) async throws(ReaderFailure) -> Recognition
    /// What is in the reader's own memory: which of these prints, and what besides. `nil` where it
    /// has none or does not list it.
    func contents(knowing prints: [StoredPrint]) async throws(ReaderFailure) -> ReaderContents?
    /// Deletes the print from the reader's own memory; at once where it has none.
    func delete(_ print: StoredPrint) async throws(ReaderFailure)
    func delete(_ leftover: LeftoverPrint) async throws(ReaderFailure)
    /// Empties the reader's own memory, whoever's prints are in it. `.notSupported` where it has
    /// none, or can neither be emptied nor listed.
    func erase() async throws(ReaderFailure)
    func close() async
}
