// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import LocalAuthModel

extension FprintReader {
    /// How far a reader is on its way into the machine's sleep, or out of it.
    struct Sleep {
        /// What the machine does.
        fileprivate var isWanted = false
        /// Whether libfprint has been told of it, and takes neither work nor close.
        fileprivate var isTold = false
        /// Whether somebody brings the second to the first.
        fileprivate var isSettling = false

        var forbidsWork: Bool { isWanted || isTold || isSettling }
    }

    /// The machine is about to sleep: the work at hand is ended. Returns when the driver has really
    /// done so or is suspended, which can take long.
    func suspend() async {
        sleep.isWanted = true
        await settle()
    }

    /// The machine is awake. A reader that was not told of its sleep takes work again.
    func noteAwake() { sleep.isWanted = false }

    /// The machine is awake. Returns when the driver is, too.
    func resume() async {
        noteAwake()
        await settle()
    }

    /// Asks for an early end of the work. A driver that sleeps is asked when it is awake again.
    func cancel(_ operation: Operation) {
        if sleep.isTold { operation.abandon() } else { operation.cancel() }
    }

    private func settle() async {
        await wait { sleep.isSettling }
        sleep.isSettling = true
        // What is wanted can change at each wait.
        while sleep.isTold != sleep.isWanted {
            if sleep.isTold {
                await wakeDevice()
            } else if isInTransition {
                await wait { isInTransition }
            } else if let operation {
                await fallAsleep(during: operation)
            } else {
                // Drivers are told of sleep only while they work (libfprint 1.94.5,
                // `fpi-device.c`); an idle reader would only become one that cannot be closed.
                break
            }
        }
        sleep.isSettling = false
        changed()
    }

    /// Ends the work first: a reader that still works when the machine sleeps, and has vanished when
    /// it wakes, as many do, would never end it. Only a driver that does not is suspended as it is.
    private func fallAsleep(during operation: Operation) async {
        // Work that must not be left half done is waited for.
        guard unsafe operation.cancellable != nil else {
            return await wait { self.operation === operation }
        }
        operation.cancel()
        var isOver = false
        let timer = GLibTimer(milliseconds: Self.patience) { [self] in
            isOver = true
            changed()
        }
        await wait { self.operation === operation && !isOver }
        timer.cancel()
        if self.operation === operation, sleep.isWanted { await suspendDevice() }
    }

    /// How many milliseconds work may take to end before the driver is suspended.
    private static let patience: UInt32 = 300

    private func suspendDevice() async {
        sleep.isTold = true
        guard let device else { return }
        let result = await unsafe gioCall { ready, data in
            unsafe fp_device_suspend(device.raw, nil, ready, data)
        } finish: { result in
            unsafe catchingGError { error in
                unsafe fp_device_suspend_finish(device.raw, result, error) != 0
            }
        }
        guard case .failure = result else { return }
        // Most drivers cannot suspend. libfprint waits until their work has ended, and then takes
        // the device for suspended all the same. It is idle, so it need not be; and one that is
        // unplugged while it is suspended could neither be resumed nor closed ever again.
        await wait { operation != nil }
        await wakeDevice()
    }

    private func wakeDevice() async {
        defer { sleep.isTold = false }
        guard let device else { return }
        // Says that it is busy when the device is not suspended after all.
        _ = await unsafe gioCall { ready, data in
            unsafe fp_device_resume(device.raw, nil, ready, data)
        } finish: { result in
            unsafe catchingGError { error in
                unsafe fp_device_resume_finish(device.raw, result, error) != 0
            }
        }
        // Somebody may have wanted its end meanwhile.
        if let operation, operation.isCancelled { operation.cancel() }
    }
}
