// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import LocalAuthModel

extension FprintReader {
    /// Compares one touch with the prints. A reader that cannot identify compares with the first
    /// usable print only, so the caller puts the likeliest first.
    ///
    /// A single print is verified, also by a reader that can identify: of those that match in their
    /// own memory, some then look for this print alone, and say so when they do not have it. To
    /// identify, they answer with whichever print of the finger they find first, be it another
    /// user's.
    func scan(
        _ turn: Turn, against prints: [StoredPrint],
        sensor: @escaping @Sendable (SensorState) -> Void
    ) async throws(ReaderFailure) -> ScanVerdict {
        let device = try freeDevice(for: turn)
        guard !Task.isCancelled else { throw .cancelled }
        guard let gallery = Gallery(prints, for: device) else { throw .noUsablePrints }
        let operation = ScanOperation(gallery: gallery, sensor: sensor)
        let result =
            gallery.count > 1 && device.features.contains(.identify)
            ? await identify(operation, on: device) : await verify(operation, on: device)
        operation.tell(.idle)
        gallery.release()
        if operation.isCancelled || Task.isCancelled {
            // Nobody may use a match that comes after they were told of the end; but a miss is a
            // miss, or else cancelling at the right moment would make it one that never was.
            guard operation.verdict == .missed else { throw .cancelled }
            return .missed
        }
        let verdict: ScanVerdict
        do throws(ReaderFailure) {
            verdict = try self.verdict(of: operation, result)
        } catch .notOnReader {
            throw await canHaveLost(prints, turn) ? .notOnReader : .io
        }
        switch verdict {
        case .matched(let id): memory.note(prints.filter { $0.id == id })
        case .missed: if await mustHaveLost(prints, turn) { throw .notOnReader }
        case .badScan: break
        }
        return verdict
    }

    /// Finds out whose finger a touch is.
    func recognise(
        _ turn: Turn, among prints: [StoredPrint]
    ) async throws(ReaderFailure) -> Recognition {
        let device = try freeDevice(for: turn)
        guard device.features.contains(.identify) else { throw .notSupported }
        guard !Task.isCancelled else { throw .cancelled }
        guard let gallery = Gallery(prints, for: device) else { throw .noUsablePrints }
        let operation = ScanOperation(
            gallery: gallery, keepsLeftover: device.features.contains(.storage), sensor: { _ in })
        let result = await identify(operation, on: device)
        gallery.release()
        guard !operation.isCancelled, !Task.isCancelled else { throw .cancelled }
        switch try verdict(of: operation, result) {
        case .matched(let id): return .known(id)
        case .missed: return operation.leftover.map { .leftover($0) } ?? .unknown
        case .badScan(let cause): return .badScan(cause)
        }
    }

    /// What was reported stands: an error after it is about the reader, not about the finger.
    private func verdict(
        of operation: ScanOperation, _ result: Result<Bool, GErrorValue>
    ) throws(ReaderFailure) -> ScanVerdict {
        if let verdict = operation.verdict { return verdict }
        guard case .failure(let error) = result else { throw failure(.nothingTold) }
        if let cause = RetryCause(error) { return .badScan(cause) }
        throw failure(error)
    }

    private func identify(
        _ operation: ScanOperation, on device: DeviceRef
    ) async -> Result<Bool, GErrorValue> {
        // SAFETY: the gallery and the operation outlive the call, whose end is awaited.
        await unsafe run(operation) { ready, data in
            unsafe fp_device_identify(
                device.raw, operation.gallery.prints, operation.cancellable,
                ScanOperation.matched, operation.address, nil, ready, data)
        } finish: { result in
            unsafe catchingGError { error in
                unsafe fp_device_identify_finish(device.raw, result, nil, nil, error) != 0
            }
        }
    }

    private func verify(
        _ operation: ScanOperation, on device: DeviceRef
    ) async -> Result<Bool, GErrorValue> {
        // SAFETY: the gallery and the operation outlive the call, whose end is awaited.
        await unsafe run(operation) { ready, data in
            unsafe fp_device_verify(
                device.raw, operation.gallery.first, operation.cancellable,
                ScanOperation.matched, operation.address, nil, ready, data)
        } finish: { result in
            unsafe catchingGError { error in
                unsafe fp_device_verify_finish(device.raw, result, nil, nil, error) != 0
            }
        }
    }

    /// Makes a print over several touches.
    func enrol(
        _ turn: Turn, _ print: PrintID, stage: @escaping @Sendable (EnrolmentStage) -> Void
    ) async throws(ReaderFailure) -> StoredPrint {
        let device = try freeDevice(for: turn)
        guard print.reader == kind else { throw .notSupported }
        guard !Task.isCancelled else { throw .cancelled }
        let operation = EnrolOperation(stage: stage)
        let result: Result<[UInt8], GErrorValue> = await unsafe run(operation) { ready, data in
            // A new print each time: libfprint adds to one that has been enrolled before.
            // SAFETY: libfprint holds the print on its own until the end, which is awaited.
            let empty = PrintRef(of: print, on: device)
            unsafe fp_device_enroll(
                device.raw, empty.raw, operation.cancellable, EnrolOperation.progressed,
                operation.address, nil, ready, data)
        } finish: { result in
            // SAFETY: the print that is returned is ours.
            let finished = unsafe catchingGError { error in
                unsafe fp_device_enroll_finish(device.raw, result, error)
            }
            switch unsafe finished {
            case .success(let raw?): return unsafe PrintRef(adopting: raw).template()
            case .success(nil): return .failure(.nothingTold)
            case .failure(let error): return .failure(error)
            }
        }
        let isCancelled = operation.isCancelled || Task.isCancelled
        switch result {
        case .success(let template):
            let stored = StoredPrint(id: print, template: template)
            memory.note([stored])
            guard isCancelled else { return stored }
            // Nobody will keep it, so it must not stay in the reader's memory either.
            try? await delete(turn, stored)
            throw .cancelled
        case .failure(let error):
            throw isCancelled ? .cancelled : failure(error)
        }
    }
}
