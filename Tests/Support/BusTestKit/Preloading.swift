// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A library for `LD_PRELOAD`, made of a C file in `Tests/Support/preload`, which says what it
/// does. Programs then meet hardware as it can be on a bad day.
package func preloadLibrary(_ name: String, in scratch: Scratch) async throws -> String {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "preload").path
    return try await preloadLibrary(of: "\(folder)/\(name).c", in: scratch)
}

/// A library for `LD_PRELOAD`, made of a C file.
package func preloadLibrary(of source: String, in scratch: Scratch) async throws -> String {
    let name = URL(filePath: source).deletingPathExtension().lastPathComponent
    let library = scratch.file(name + ".so")
    let result = try await run(
        "/usr/bin/cc", ["-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source])
    guard result.status == 0 else { throw Child.Ended(awaited: library, log: result.errors) }
    return library
}
