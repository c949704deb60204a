// SPDX-License-Identifier: Apache-2.0

/// Two lower-case digits for each byte.
func hexadecimal(_ bytes: [UInt8]) -> String {
    var digits: [UInt8] = []
    for byte in bytes { digits += [digit(byte >> 4), digit(byte & 15)] }
    return String(decoding: digits, as: UTF8.self)
}

/// So many bytes from their digits, in the one form that `hexadecimal` gives them.
func bytes(fromHexadecimal text: String, count: Int) -> [UInt8]? {
    let values = text.utf8.compactMap(value)
    guard values.count == text.utf8.count, values.count == count * 2 else { return nil }
    return (0..<count).map { values[$0 * 2] << 4 | values[$0 * 2 + 1] }
}

private func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

private func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
}
