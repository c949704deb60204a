// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import LocalAuthModel

/// The making of one print over several touches.
@ReaderQueue
final class EnrolOperation: Operation {
    private let stage: @Sendable (EnrolmentStage) -> Void

    init(stage: @escaping @Sendable (EnrolmentStage) -> Void) {
        self.stage = stage
        super.init()
    }

    private func report(_ progress: EnrolmentStage) {
        // From the last touch on the reader may be storing the print. Were it cancelled now, the
        // print could stay in the reader's memory with nobody knowing of it.
        if progress.fault == nil, progress.done >= progress.total { end() }
        stage(progress)
    }

    /// libfprint's report of a touch.
    static let progressed: FpEnrollProgress = { device, done, _, data, error in
        guard let data = unsafe data, let device = unsafe device else { return }
        // SAFETY: the data is the `address` of an operation that is still in flight; device and
        // error are borrowed during the callback.
        let operation = unsafe Unmanaged<EnrolOperation>.fromOpaque(data).takeUnretainedValue()
        let total = unsafe fp_device_get_nr_enroll_stages(device)
        let fault = unsafe error.map { unsafe RetryCause(GErrorValue(copying: $0)) ?? .general }
        let progress = EnrolmentStage(
            done: UInt32(clamping: done), total: UInt32(clamping: total), fault: fault)
        ReaderQueue.assumeIsolated { operation.report(progress) }
    }
}
