// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The lines that come through a pipe, as they come, until its other end is closed.
///
/// - Parameter pipe: the end to read from, by nobody else.
/// - Returns: the lines without their line feeds.
package func lines(from pipe: FileHandle) -> AsyncStream<String> {
    let (lines, feed) = AsyncStream<String>.makeStream()
    // A thread of its own, because reading blocks. Not `readLine`, which never returns when the
    // end comes while `errno` is still EINTR from something else.
    Thread {
        var rest = Data()
        while case let data = pipe.availableData, !data.isEmpty {
            rest += data
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                feed.yield(String(decoding: rest[..<end], as: UTF8.self))
                rest = Data(rest[(end + 1)...])
            }
        }
        feed.finish()
    }.start()
    return lines
}
