// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
package import LocalAuthModel
package import SystemSupport

/// The readers that libfprint finds, now and while it runs.
@ReaderQueue
@safe package final class FprintReaders: ReaderDriving {
    /// How many milliseconds `stop` waits for readers that do not stop.
    private static let patience: UInt32 = 2_500
    /// How many milliseconds `suspend` and `resume` wait. The machine waits for the service, and
    /// by default no more than five seconds; there is more to do in them than this.
    private static let sleepPatience: UInt32 = 700

    private let log: Log
    private var context: UnsafeMutablePointer<FpContext>?
    private var report: (@Sendable (ReaderChange) -> Void)?
    private var lastNumber: UInt32 = 0
    private var readers: [ObjectAddress: FprintReader] = [:]
    private var isEnumerating = false
    private var isStopping = false
    private var isSuspended = false

    /// Readers that nobody has looked for yet.
    package nonisolated init(log: Log) { self.log = log }

    /// Looks for readers. Those found are told before it returns, and those that come later when
    /// they come. Does nothing while it runs already.
    @ReaderQueue package func start(report: @escaping @Sendable (ReaderChange) -> Void) async {
        guard unsafe context == nil, !isEnumerating else { return }
        ReaderQueue.executor.setWanted(true)
        self.report = report
        let context = unsafe fp_context_new()
        unsafe self.context = context
        unsafe connect("device-added", of: context) { readers, device in
            readers.added(device)
        }
        unsafe connect("device-removed", of: context) { readers, device in
            readers.dropped(device)
        }
        // Runs the loop until every reader has been probed, and so other jobs within this one.
        // Hence nothing is told before it is over: nobody can ask for a reader meanwhile. `stop`
        // can be among those jobs, so the context is held.
        // SAFETY: the reference is given back after the call.
        isEnumerating = true
        unsafe g_object_ref(context)
        unsafe fp_context_enumerate(context)
        unsafe g_object_unref(context)
        isEnumerating = false
        for reader in readers.values.sorted(by: { $0.id.number < $1.id.number }) {
            reader.announce()
        }
    }

    @ReaderQueue package func open(_ reader: ReaderID) async throws(ReaderFailure) -> any OpenReader
    {
        guard !isStopping, let reader = readers.values.first(where: { $0.id == reader }) else {
            throw .removed
        }
        // The machine is falling asleep.
        guard !isSuspended else { throw .busy }
        return ReaderLease(reader, try await reader.open())
    }

    /// Suspends what is open, all readers side by side: none is waited for when another is slow,
    /// and the machine does not wait for the slow one either.
    @ReaderQueue package func suspend() async {
        isSuspended = true
        if await !withAllReaders(within: Self.sleepPatience, { await $0.suspend() }) {
            log.warning("a reader does not suspend")
        }
    }

    /// Wakes what was suspended. A reader that does not wake in time is woken when it can be.
    @ReaderQueue package func resume() async {
        isSuspended = false
        // All at once, so that whoever opens one now can also work with it.
        for reader in readers.values { reader.noteAwake() }
        if await !withAllReaders(within: Self.sleepPatience, { await $0.resume() }) {
            log.warning("a reader does not wake")
        }
    }

    /// Ends all work and closes all readers. Waits at most some seconds for a reader that does
    /// not stop; libfprint is then left as it is, and the process should end.
    @ReaderQueue package func stop() async {
        report = nil
        guard let context = unsafe context, !isStopping else { return }
        isStopping = true
        // A reader that sleeps cannot be closed.
        let areClosed = await withAllReaders(within: Self.patience) {
            await $0.resume()
            await $0.shutDown()
        }
        guard areClosed else {
            log.warning("a reader does not stop")
            return
        }
        isStopping = false
        isSuspended = false
        unsafe self.context = nil
        // The devices before the context: libusb frees what they stand on with it.
        for reader in readers.values { reader.drop() }
        readers = [:]
        // SAFETY: our only reference, given back once. The handlers go with it.
        unsafe g_object_unref(context)
        ReaderQueue.executor.setWanted(false)
    }

    /// Does something with each reader, side by side.
    /// - Returns: whether all was done in time. What takes longer goes on.
    private func withAllReaders(
        within milliseconds: UInt32, _ work: @escaping @Sendable (FprintReader) async -> Void
    ) async -> Bool {
        let readers = Array(self.readers.values)
        guard !readers.isEmpty else { return true }
        return await withCheckedContinuation { continuation in
            let wait = BoundedWait(count: readers.count, continuation)
            let timer = GLibTimer(milliseconds: milliseconds) { wait.end(inTime: false) }
            for reader in readers {
                ReaderQueue.task {
                    await work(reader)
                    if wait.oneIsDone() { timer.cancel() }
                }
            }
        }
    }

    // MARK: Hot-plug

    private func added(_ device: DeviceRef) {
        guard unsafe context != nil, readers[device.address] == nil else { return }
        guard let kind = device.kind else {
            log.warning("a reader has no usable name")
            return
        }
        lastNumber += 1
        let reader = FprintReader(id: ReaderID(lastNumber), kind: kind, device: device, log: log) {
            [weak self] in self?.report?($0)
        }
        readers[device.address] = reader
        if !isEnumerating { reader.announce() }
    }

    private func dropped(_ device: DeviceRef) {
        readers.removeValue(forKey: device.address)?.drop()
    }

    private typealias Handler = @ReaderQueue (FprintReaders, DeviceRef) -> Void

    /// What a signal of the context calls.
    private final class Connection: Sendable {
        let readers: FprintReaders
        let handler: Handler
        init(_ readers: FprintReaders, _ handler: @escaping Handler) {
            self.readers = readers
            self.handler = handler
        }
    }

    private func connect(
        _ signal: String, of context: UnsafeMutablePointer<FpContext>?,
        to handler: @escaping Handler
    ) {
        let callback:
            @convention(c) (OpaquePointer, UnsafeMutablePointer<FpDevice>, gpointer) -> Void = {
                _, device, data in
                // SAFETY: the handler owns the connection until it is disconnected; the device is
                // borrowed during the callback.
                let connection =
                    unsafe Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
                nonisolated(unsafe) let borrowed = unsafe device
                ReaderQueue.assumeIsolated {
                    connection.handler(connection.readers, unsafe DeviceRef(retaining: borrowed))
                }
            }
        // SAFETY: the callback's type is that of both signals.
        let connection = unsafe Unmanaged.passRetained(Connection(self, handler))
        unsafe g_signal_connect_data(
            context, signal, unsafeBitCast(callback, to: GCallback.self), connection.toOpaque(),
            { data, _ in
                guard let data = unsafe data else { return }
                unsafe Unmanaged<Connection>.fromOpaque(data).release()
            }, G_CONNECT_DEFAULT)
    }
}
