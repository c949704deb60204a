// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A library for `LD_PRELOAD`, made of a C file in `Tests/Support/preload`, which says what it
/// does. Programs then meet hardware as it can be on a bad day.
package func preloadLibrary(_ name: String, in scratch: Scratch) async throws -> String {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "preload").path
    let library = scratch.file(name + ".so")
    let result = try await run(
        "/usr/bin/cc",
        ["-shared", "-fPIC", "-Wall", "-Werror", "-o", library, "\(folder)/\(name).c"])
    guard result.status == 0 else { throw Child.Ended(awaited: library, log: result.errors) }
    return library
}
