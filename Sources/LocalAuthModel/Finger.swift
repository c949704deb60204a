// SPDX-License-Identifier: Apache-2.0

/// One of ten fingers. The raw values are those of libfprint's `FpFinger` and, as a hexadecimal
/// digit, the file name under which fprintd keeps the print.
package enum Finger: UInt8, CaseIterable, Hashable, Sendable {
    case leftThumb = 1
    case leftIndex, leftMiddle, leftRing, leftLittle
    case rightThumb, rightIndex, rightMiddle, rightRing, rightLittle

    /// The name used on the bus, the same as fprintd's, such as `right-index-finger`.
    package var wireName: String {
        switch self {
        case .leftThumb: "left-thumb"
        case .leftIndex: "left-index-finger"
        case .leftMiddle: "left-middle-finger"
        case .leftRing: "left-ring-finger"
        case .leftLittle: "left-little-finger"
        case .rightThumb: "right-thumb"
        case .rightIndex: "right-index-finger"
        case .rightMiddle: "right-middle-finger"
        case .rightRing: "right-ring-finger"
        case .rightLittle: "right-little-finger"
        }
    }

    package init?(wireName: String) {
        guard let finger = Self.allCases.first(where: { $0.wireName == wireName }) else {
            return nil
        }
        self = finger
    }
}
