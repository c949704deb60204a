// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import LocalAuthModel

extension ReaderFailure {
    /// The one place where libfprint's error becomes a reader's failure.
    init(_ error: GErrorValue) {
        switch error.domain {
        case fp_device_error_quark(): self.init(deviceError: error.code)
        // Only our own cancel says so: heat and suspend come in libfprint's domain.
        case g_io_error_quark() where error.code == Int32(G_IO_ERROR_CANCELLED.rawValue):
            self = .cancelled
        case _ where error.libusbNumber == -4: self = .removed
        case _ where error.libusbNumber == -6: self = .busy
        default: self = .io
        }
    }

    private init(deviceError code: Int32) {
        switch FpDeviceError(rawValue: UInt32(bitPattern: code)) {
        case FP_DEVICE_ERROR_REMOVED: self = .removed
        case FP_DEVICE_ERROR_BUSY: self = .busy
        case FP_DEVICE_ERROR_TOO_HOT: self = .tooHot
        case FP_DEVICE_ERROR_NOT_SUPPORTED: self = .notSupported
        case FP_DEVICE_ERROR_DATA_NOT_FOUND: self = .notOnReader
        case FP_DEVICE_ERROR_DATA_FULL: self = .storageFull
        case FP_DEVICE_ERROR_DATA_DUPLICATE: self = .duplicate
        default: self = .io
        }
    }
}

extension GErrorValue {
    /// The number of libusb's error in one of libgusb's.
    ///
    /// libgusb 0.3.10 gives one code to a device that is gone (-4, `LIBUSB_ERROR_NO_DEVICE`) and to
    /// an interface that another program has claimed (-6, `LIBUSB_ERROR_BUSY`). Only the end of the
    /// message tells them apart, as in "USB error on device 298d:1010 : Resource busy [-6]".
    fileprivate var libusbNumber: Int? {
        guard domainName == "g-usb-device-error-quark", message.last == "]",
            let start = message.lastIndex(of: "[")
        else { return nil }
        return Int(message[message.index(after: start)...].dropLast())
    }
}

extension RetryCause {
    /// Why the scan must be repeated; `nil` for an error that does not ask for that.
    init?(_ error: GErrorValue) {
        guard error.domain == fp_device_retry_quark() else { return nil }
        switch FpDeviceRetry(rawValue: UInt32(bitPattern: error.code)) {
        case FP_DEVICE_RETRY_TOO_SHORT: self = .tooShort
        case FP_DEVICE_RETRY_CENTER_FINGER: self = .notCentered
        case FP_DEVICE_RETRY_REMOVE_FINGER: self = .removeFinger
        // FP_DEVICE_RETRY_TOO_FAST of libfprint 1.94.6, which 1.94.5's header does not have.
        case FpDeviceRetry(rawValue: 4): self = .tooFast
        default: self = .general
        }
    }
}
