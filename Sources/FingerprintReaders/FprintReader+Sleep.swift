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

    /// The machine is about to sleep: the work at hand is suspended or ended. Returns when the
    /// driver has really done so, which can take long.
    func suspend() async {
        sleep.isWanted = true
        await settle()
    }

    /// The machine is awake.
    func resume() async {
        sleep.isWanted = false
        await settle()
    }

    /// Asks for an early end of the work. A driver that sleeps is asked when it is awake again.
    func cancel(_ operation: Operation) {
        if sleep.isTold { operation.abandon() } else { operation.cancel() }
    }

    private func settle() async {
        while sleep.isSettling { await change() }
        sleep.isSettling = true
        // What is wanted can change at each wait.
        while sleep.isTold != sleep.isWanted {
            if sleep.isTold {
                await wakeDevice()
            } else if isInTransition || (operation != nil && !mayInterrupt) {
                await change()
            } else if operation != nil {
                await suspendDevice()
            } else {
                // Drivers are told of sleep only while they work (libfprint 1.94.5,
                // `fpi-device.c`); an idle reader would only become one that cannot be closed.
                break
            }
        }
        sleep.isSettling = false
        changed()
    }

    /// Whether the work at hand may be left half done.
    private var mayInterrupt: Bool { unsafe operation?.cancellable != nil }

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
        // Most drivers cannot suspend. Their work has been ended, and yet libfprint takes the
        // device for suspended. It is idle now, so it need not be; and one that is unplugged while
        // it is suspended could neither be resumed nor closed ever again.
        while operation != nil { await change() }
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
