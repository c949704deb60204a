// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import LocalAuthModel
internal import SystemSupport

/// One reader that libfprint knows: what is told about it, who holds it and what it is doing.
///
/// Its work is in `FprintReader+Work.swift`, its memory in `FprintReader+Memory.swift`, and how it
/// sleeps in `FprintReader+Sleep.swift`.
@ReaderQueue
final class FprintReader {
    /// How many milliseconds a driver may take to end its work once the reader is gone.
    private static let lastPatience: UInt32 = 700

    /// Names one holder's time with the reader.
    typealias Turn = UInt64

    let id: ReaderID
    let kind: ReaderKind
    let log: Log
    /// Where it was when it was found; it would be another reader elsewhere.
    private let placement: ReaderPlacement
    private let tell: (ReaderChange) -> Void
    private var told: ReaderDescription?
    private var handler: gulong = 0
    private(set) var isRemoved = false

    /// `nil` once libfprint has dropped the device.
    private(set) var device: DeviceRef?
    private var isDropped = false
    /// Whose turn it is: from the beginning of an open to the end of its close.
    private var holder: Turn?
    private var lastTurn: Turn = 0
    /// True while libfprint opens or closes the device.
    private(set) var isInTransition = false
    private(set) var operation: Operation?
    /// Work that nobody waits for any more, although libfprint is still at it.
    private var lost: Operation?
    var sleep = Sleep()
    var memory = MemoryNotes()
    private var changes: UInt64 = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(
        id: ReaderID, kind: ReaderKind, device: DeviceRef, log: Log,
        tell: @escaping (ReaderChange) -> Void
    ) {
        self.id = id
        self.kind = kind
        self.device = device
        self.log = log
        self.tell = tell
        placement = device.placement
        // SAFETY: `release` disconnects the handler, and the owner keeps this object until then.
        let notified: @convention(c) (OpaquePointer, UnsafePointer<GParamSpec>, gpointer) -> Void =
            { _, property, data in
                let reader = unsafe Unmanaged<FprintReader>.fromOpaque(data).takeUnretainedValue()
                let name = unsafe String(cString: property.pointee.name)
                ReaderQueue.assumeIsolated { reader.propertyChanged(name) }
            }
        unsafe handler = g_signal_connect_data(
            device.raw, "notify", unsafeBitCast(notified, to: GCallback.self),
            Unmanaged.passUnretained(self).toOpaque(), nil, G_CONNECT_DEFAULT)
    }

    // MARK: Telling

    /// Tells that the reader is there. Nothing else is told before.
    func announce() {
        guard told == nil, !isRemoved, let device else { return }
        let description = device.description(id: id, kind: kind, placement: placement)
        told = description
        tell(.added(description))
    }

    /// Tells, once, that the reader is gone.
    func markRemoved() {
        guard !isRemoved else { return }
        isRemoved = true
        if told != nil { tell(.removed(id)) }
        guard let operation else { return }
        // Whoever waits for it keeps everybody else from every other reader.
        _ = GLibTimer(milliseconds: Self.lastPatience) { [self] in
            guard self.operation === operation else { return }
            log.warning("a driver does not end its work", ["reader": String(id.number)])
            lost = operation
            operation.giveUp?()
        }
    }

    private func propertyChanged(_ name: String) {
        guard let device else { return }
        switch name {
        case "removed": markRemoved()
        case "finger-status": (operation as? ScanOperation)?.tell(device.sensorState)
        default:
            let description = device.description(id: id, kind: kind, placement: placement)
            guard let told, told != description, !isRemoved else { return }
            self.told = description
            tell(.changed(description))
        }
    }

    // MARK: Holding

    /// Opens the device for a new holder.
    func open() async throws(ReaderFailure) -> Turn {
        guard let device, !isRemoved else { throw .removed }
        guard holder == nil else { throw .busy }
        lastTurn += 1
        let turn = lastTurn
        holder = turn
        isInTransition = true
        // A close that failed can have left it open.
        if device.isOpen { await closeDevice(device) }
        let result = await unsafe gioCall { ready, data in
            unsafe fp_device_open(device.raw, nil, ready, data)
        } finish: { result in
            unsafe catchingGError { error in
                unsafe fp_device_open_finish(device.raw, result, error) != 0
            }
        }
        isInTransition = false
        if case .failure(let error) = result {
            note("opening a reader failed", error)
            device.unwedge()
            endTurn()
            throw isRemoved ? .removed : ReaderFailure(error)
        }
        changed()
        return turn
    }

    /// Ends the holder's turn. Asks an operation in flight to end, and waits until it has.
    func close(_ turn: Turn) async {
        while holder == turn {
            if isInTransition || sleep.forbidsWork || operation != nil {
                if let operation { cancel(operation) }
                let seen = changes
                await wait { changes == seen }
                continue
            }
            isInTransition = true
            // A removed reader answers with an error, but libfprint drops it only once it is
            // closed.
            if let device, lost == nil { await closeDevice(device) }
            isInTransition = false
            endTurn()
        }
    }

    /// Takes the reader from its holder, if there is one. Returns when libfprint has ended all its
    /// work.
    func shutDown() async {
        if let holder { await close(holder) }
        await wait { lost != nil || isInTransition }
    }

    /// libfprint no longer knows the device. Lets go of it as soon as nobody holds it.
    func drop() {
        markRemoved()
        isDropped = true
        if holder == nil { release() }
    }

    private func endTurn() {
        holder = nil
        if isDropped { release() }
        changed()
    }

    private func release() {
        guard let device else { return }
        // SAFETY: the handler was connected to this very device.
        unsafe g_signal_handler_disconnect(device.raw, handler)
        self.device = nil
    }

    private func closeDevice(_ device: DeviceRef) async {
        let result = await unsafe gioCall { ready, data in
            unsafe fp_device_close(device.raw, nil, ready, data)
        } finish: { result in
            unsafe catchingGError { error in
                unsafe fp_device_close_finish(device.raw, result, error) != 0
            }
        }
        if case .failure(let error) = result, !isRemoved { note("closing a reader failed", error) }
        // One that was unplugged in its sleep stays as it is for ever.
        if isRemoved, device.isOpen {
            device.unwedge()
            isDropped = true
        }
    }

    // MARK: Working

    /// The device, free to work for this holder.
    func freeDevice(for turn: Turn) throws(ReaderFailure) -> DeviceRef {
        guard let device, !isRemoved, holder == turn else { throw .removed }
        guard operation == nil, !isInTransition, !sleep.forbidsWork else { throw .busy }
        return device
    }

    /// Has libfprint do one piece of work, and returns when that has really ended, or when the reader
    /// is gone and its driver does not notice. Cancelling the task asks it to end.
    func run<T: Sendable>(
        _ operation: Operation,
        _ start: (GAsyncReadyCallback, UnsafeMutableRawPointer) -> Void,
        finish: @escaping @ReaderQueue (OpaquePointer) -> Result<T, GErrorValue>
    ) async -> Result<T, GErrorValue> {
        self.operation = operation
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                operation.giveUp = {
                    continuation.resume(returning: Result<T, GErrorValue>.failure(.lost))
                }
                // Holds the operation, to which libfprint has a bare address, until the real end.
                unsafe startGioCall(start) { [self] result in
                    // A cancel that comes later finds nothing to cancel.
                    operation.end()
                    let result = unsafe finish(result)
                    if lost === operation {
                        closeLost()
                    } else {
                        operation.giveUp = nil
                        continuation.resume(returning: result)
                    }
                }
            }
        } onCancel: {
            ReaderQueue.post { self.cancel(operation) }
        }
        self.operation = nil
        changed()
        return result
    }

    /// The work that nobody waited for any more has ended after all.
    private func closeLost() {
        ReaderQueue.task {
            if let device { await closeDevice(device) }
            lost = nil
            if isDropped, holder == nil { release() }
            changed()
        }
    }

    /// The failure for an error, which an administrator can read about unless it is our doing.
    func failure(_ error: GErrorValue) -> ReaderFailure {
        let failure = ReaderFailure(error)
        // What libfprint ends because it suspends the reader.
        if failure == .busy, sleep.forbidsWork { return .cancelled }
        if failure == .io { note("a reader failed", error) }
        return failure
    }

    private func note(_ message: StaticString, _ error: GErrorValue) {
        log.warning(
            message,
            [
                "reader": String(id.number), "driver": kind.driver, "domain": error.domainName,
                "code": String(error.code), "error": error.message,
            ])
    }

    // MARK: Waiting

    /// Returns when this does not hold any more.
    func wait(while holds: () -> Bool) async {
        while holds() {
            await withCheckedContinuation { continuation in
                // Looked at again: on the way here others can have had their turn.
                guard holds() else { return continuation.resume() }
                waiting.append(continuation)
            }
        }
    }

    /// The operation, the holder or the way into sleep may be another.
    func changed() {
        changes += 1
        let waiting = self.waiting
        self.waiting = []
        for continuation in waiting { continuation.resume() }
    }
}
