// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// A print in libfprint's serialised form, made without libfprint; good unless told otherwise.
package struct PrintBytes: Sendable {
    /// One touch of an image reader: where its minutiae are and where they point.
    package struct Scan: Sendable {
        package var x: [Int32]
        package var y: [Int32]
        package var angles: [Int32]

        package init(x: [Int32], y: [Int32], angles: [Int32]) {
            (self.x, self.y, self.angles) = (x, y, angles)
        }

        /// A scan with so many minutiae.
        package init(minutiae: Int) {
            let numbers = (0..<Int32(minutiae)).map { $0 }
            self.init(
                x: numbers.map { $0 * 7 % 256 }, y: numbers.map { $0 * 11 % 240 },
                angles: numbers.map { $0 * 13 % 360 - 179 })
        }
    }

    /// The part that belongs to the reader, and the number that says of which kind it is.
    package enum Content: Sendable {
        /// A driver's own value, in GVariant's text form.
        case raw(String)
        case scans([Scan])
        /// Anything, in GVariant's text form and without its outermost brackets.
        case other(type: Int32, String)
    }

    package var magic = "FP3"
    package var driver = "virtual_device"
    package var deviceID = "0"
    package var isOnReader = false
    package var finger: UInt8
    package var user: String?
    package var day: Int32 = 738_000
    package var content: Content

    package init(
        user: String? = "alice", finger: UInt8 = 7,
        content: Content = .raw("(byte 0x01, [byte 0x02, 0x03, 0x04], 'template', uint64 5)")
    ) {
        (self.user, self.finger, self.content) = (user, finger, content)
    }

    package static func image(user: String = "alice", finger: UInt8 = 7, scans: Int = 5) -> Self {
        Self(
            user: user, finger: finger,
            content: .scans((0..<scans).map { Scan(minutiae: 20 + $0) }))
    }

    package var bytes: [UInt8] {
        let (type, data): (Int32, String) =
            switch content {
            case .raw(let text): (1, "<\(text)>")
            case .scans(let scans):
                (2, "(@a(aiaiai) [\(scans.map(\.text).joined(separator: ", "))],)")
            case .other(let type, let text): (type, text)
            }
        let text = """
            (\(type), \(driver.quoted), \(deviceID.quoted), \(isOnReader), \(finger), \
            \(user?.quoted ?? "nothing"), 'right index', \(day), {}, <\(data)>)
            """
        return Array(magic.utf8) + Self.serialised(text, type: "(issbymsmsia{sv}v)")
    }

    /// GVariant's bytes for a value in its text form.
    private static func serialised(_ text: String, type: String) -> [UInt8] {
        // SAFETY: everything GLib hands out is ours, copied and freed here.
        guard let variantType = unsafe g_variant_type_new(type) else { return [] }
        defer { unsafe g_variant_type_free(variantType) }
        var error: UnsafeMutablePointer<GError>?
        guard let value = unsafe g_variant_parse(variantType, text, nil, nil, &error) else {
            let message = unsafe error.flatMap { unsafe $0.pointee.message }
                .map { unsafe String(cString: $0) }
            preconditionFailure("\(message ?? "no reason given"): \(text)")
        }
        defer { unsafe g_variant_unref(value) }
        let size = Int(unsafe g_variant_get_size(value))
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            unsafe g_variant_store(value, buffer.baseAddress)
            count = size
        }
    }
}

extension PrintBytes.Scan {
    fileprivate var text: String {
        let columns = [x, y, angles].map { column in
            "@ai [\(column.map(String.init).joined(separator: ", "))]"
        }
        return "(\(columns.joined(separator: ", ")))"
    }
}

extension String {
    /// In the quotes of GVariant's text form.
    fileprivate var quoted: String {
        let escaped = self.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
        return "'\(escaped)'"
    }
}
