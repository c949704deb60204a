// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import Glibc
internal import LocalAuthModel

/// Owns one reference to libfprint's form of a print.
@safe struct PrintRef: ~Copyable {
    let raw: OpaquePointer

    /// Takes over a reference, floating or not.
    init(adopting raw: OpaquePointer) {
        // SAFETY: turns a floating reference into ours, and leaves a full one alone.
        unsafe g_object_take_ref(UnsafeMutableRawPointer(raw))
        unsafe self.raw = raw
    }

    deinit { unsafe g_object_unref(UnsafeMutableRawPointer(raw)) }
}

@ReaderQueue
extension PrintRef {
    /// A new, empty print with its owner's name, its finger and today's date. A print without a
    /// date would be read back as one of the year 27329.
    init(of print: PrintID, on device: DeviceRef) {
        // SAFETY: libfprint copies the name and the date.
        unsafe self.init(adopting: fp_print_new(device.raw))
        unsafe fp_print_set_username(raw, print.user.rawValue)
        unsafe fp_print_set_finger(raw, FpFinger(UInt32(print.finger.rawValue)))
        let today = unsafe g_date_new()
        unsafe g_date_set_time_t(today, time(nil))
        unsafe fp_print_set_enroll_date(raw, today)
        unsafe g_date_free(today)
    }

    /// Reads a template; `nil` if libfprint cannot, or if it is for another reader.
    ///
    /// The template must have been validated when it was read from disk: libfprint aborts the
    /// process on a damaged one.
    static func reading(_ template: [UInt8], for device: DeviceRef) -> PrintRef? {
        // libfprint asserts this length (`fp-print.c:781`).
        guard template.count > 3 else { return nil }
        // SAFETY: libfprint reads the bytes during the call only, and what it returns is ours.
        let result = unsafe catchingGError { error in
            unsafe template.withUnsafeBufferPointer { bytes in
                unsafe fp_print_deserialize(bytes.baseAddress, gsize(bytes.count), error)
            }
        }
        guard case .success(let raw?) = unsafe result else { return nil }
        let read = unsafe PrintRef(adopting: raw)
        // `fp_device_verify` does not look at this itself.
        guard unsafe fp_print_compatible(raw, device.raw) != 0 else { return nil }
        return read
    }

    /// The print in libfprint's serialised form.
    func template() -> Result<[UInt8], GErrorValue> { unsafe Self.template(of: raw) }

    /// A print that somebody else has a reference to, in libfprint's serialised form.
    static func template(of raw: OpaquePointer) -> Result<[UInt8], GErrorValue> {
        var bytes: UnsafeMutablePointer<guchar>?
        var count: gsize = 0
        // SAFETY: the bytes are ours, and are freed once they have been copied.
        let result = unsafe catchingGError { error in
            unsafe fp_print_serialize(raw, &bytes, &count, error)
        }
        defer { unsafe g_free(bytes) }
        return result.map { _ in
            unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
    }
}
