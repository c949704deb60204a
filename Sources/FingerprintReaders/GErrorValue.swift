// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib

/// What a `GError` said, copied.
struct GErrorValue: Error, Sendable {
    let domain: GQuark
    let code: Int32
    let message: String

    /// Copies; the caller keeps the error (transfer none).
    init(copying error: UnsafePointer<GError>) {
        // SAFETY: the error outlives the call.
        unsafe (domain, code) = (error.pointee.domain, error.pointee.code)
        // libfprint 1.94.5's fpcmoc hands out freed errors, which show domain 0 and no message.
        message =
            domain == 0 ? "" : unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? ""
    }

    /// Copies and frees (transfer full).
    init(adopting error: UnsafeMutablePointer<GError>) {
        unsafe self.init(copying: error)
        // An error with domain 0 has been freed already: see above.
        // SAFETY: owned by us.
        if domain != 0 { unsafe g_error_free(error) }
    }

    private init(_ domain: GQuark, _ code: Int32, _ message: String) {
        (self.domain, self.code, self.message) = (domain, code, message)
    }

    /// An error of ours for what libfprint promises never to do.
    static let nothingTold = GErrorValue(0, 0, "no result and no error")

    /// An error of ours for work that a driver does not end although its reader is gone.
    static let lost = GErrorValue(
        fp_device_error_quark(), Int32(bitPattern: FP_DEVICE_ERROR_REMOVED.rawValue),
        "the driver does not end its work")

    /// The domain's name, for the log.
    var domainName: String {
        // SAFETY: quark strings live for ever.
        unsafe g_quark_to_string(domain).map { unsafe String(cString: $0) } ?? "none"
    }
}

/// Calls a `_finish` function with a place for its error.
func catchingGError<T>(
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> T
) -> Result<T, GErrorValue> {
    var error: UnsafeMutablePointer<GError>?
    let value = unsafe call(&error)
    if let error = unsafe error { return .failure(unsafe GErrorValue(adopting: error)) }
    return .success(value)
}
