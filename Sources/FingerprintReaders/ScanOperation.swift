// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import LocalAuthModel

/// One touch that is compared with a gallery.
@ReaderQueue
final class ScanOperation: Operation {
    let gallery: Gallery
    private let sensor: @Sendable (SensorState) -> Void
    private var lastState = SensorState.idle
    /// What libfprint reported; it comes before the operation ends, and stands whatever follows.
    private(set) var verdict: ScanVerdict?
    private let keepsLeftover: Bool
    /// The print of the reader's own memory that a miss was found to be, if that is wanted.
    private(set) var leftover: LeftoverPrint?

    init(
        gallery: Gallery, keepsLeftover: Bool = false,
        sensor: @escaping @Sendable (SensorState) -> Void
    ) {
        self.gallery = gallery
        self.keepsLeftover = keepsLeftover
        self.sensor = sensor
        super.init()
    }

    /// Tells what the sensor sees, if that is news.
    func tell(_ state: SensorState) {
        guard state != lastState else { return }
        lastState = state
        sensor(state)
    }

    private func report(match: ObjectAddress?, scan: OpaquePointer?, error: GErrorValue?) {
        guard verdict == nil else { return }
        // The error first: a bad scan has no match either.
        if let error {
            verdict = RetryCause(error).map(ScanVerdict.badScan)
        } else {
            verdict = match.flatMap(gallery.id(at:)).map(ScanVerdict.matched) ?? .missed
            // A reader that has no memory shows the touch itself here.
            if keepsLeftover, match == nil, let scan = unsafe scan {
                leftover = unsafe LeftoverPrint(borrowing: scan)
            }
        }
    }

    /// libfprint's report of a match or of a bad scan.
    static let matched: FpMatchCb = { _, match, scan, data, error in
        guard let data = unsafe data else { return }
        // SAFETY: the data is the `address` of an operation that is still in flight; the prints
        // and the error are borrowed during the callback.
        let operation = unsafe Unmanaged<ScanOperation>.fromOpaque(data).takeUnretainedValue()
        let match = unsafe match.map { unsafe ObjectAddress($0) }
        let error = unsafe error.map { unsafe GErrorValue(copying: $0) }
        nonisolated(unsafe) let borrowed = unsafe scan
        ReaderQueue.assumeIsolated {
            unsafe operation.report(match: match, scan: borrowed, error: error)
        }
    }
}
