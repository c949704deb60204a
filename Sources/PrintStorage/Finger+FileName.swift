// SPDX-License-Identifier: Apache-2.0

internal import LocalAuthModel

extension Finger {
    /// fprintd's file name: one hexadecimal digit, `1` to `a`.
    var fileName: String { String(rawValue, radix: 16) }

    init?(fileName: String) {
        guard let finger = Self.allCases.first(where: { $0.fileName == fileName }) else {
            return nil
        }
        self = finger
    }
}
