// SPDX-License-Identifier: Apache-2.0

/// Whether two secrets are equal; how long it takes to tell depends on their length only.
package func isSameSecret(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for index in a.indices { difference |= a[index] ^ b[index] }
    return difference == 0
}
