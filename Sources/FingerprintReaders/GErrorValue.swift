// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib

/// What a `GError` said, copied.
struct GErrorValue: Error, Sendable {
    let domain: GQuark
    let code: Int32
    let message: String

    /// Copies; the caller keeps the error (transfer none).
    ///
    /// libfprint 1.94.5's fpcmoc hands out errors that it has freed (mended in 1.94.6). What stands
    /// there then is chance: a domain that nobody has registered. Of such an error nothing is believed.
    init(copying error: UnsafePointer<GError>) {
        // SAFETY: the error outlives the call, or is a freed one: then the memory is still GLib's, is
        // read as numbers, and the message is not followed. GLib looks whether a domain is one.
        let domain = unsafe error.pointee.domain
        guard unsafe g_quark_to_string(domain) != nil else {
            self = .freed
            return
        }
        self.domain = domain
        code = unsafe error.pointee.code
        message = unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? ""
    }

    /// Copies and frees (transfer full).
    init(adopting error: UnsafeMutablePointer<GError>) {
        unsafe self.init(copying: error)
        // SAFETY: owned by us, unless it has been freed.
        if domain != Self.freed.domain { unsafe g_error_free(error) }
    }

    private init(_ domain: GQuark, _ code: Int32, _ message: String) {
        (self.domain, self.code, self.message) = (domain, code, message)
    }

    /// What is known of an error that had been freed when it was handed out.
    private static let freed = GErrorValue(0, 0, "an error that its driver has freed")

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
