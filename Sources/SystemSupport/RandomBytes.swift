// SPDX-License-Identifier: Apache-2.0

/// Bytes that nobody can guess: Swift's generator asks the kernel (getrandom(2)).
package func randomBytes(_ count: Int) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
}
