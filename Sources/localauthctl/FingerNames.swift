// SPDX-License-Identifier: Apache-2.0

/// The ten fingers as the service, and fprintd, name them.
enum FingerNames {
    private static let kinds = [
        "thumb", "index-finger", "middle-finger", "ring-finger", "little-finger",
    ]
    static let left = kinds.map { "left-\($0)" }
    static let right = kinds.map { "right-\($0)" }

    /// Finds a wrong name before anybody is asked to touch anything.
    static func check(_ names: [String]) throws(Invocation.Failure) {
        for name in names where !(left + right).contains(name) {
            throw Invocation.Failure(message: "there is no finger \(name)")
        }
    }
}
