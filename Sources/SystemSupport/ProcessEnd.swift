// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Whether the process behind a pidfd has ended. What cannot be asked counts as ended.
package func hasProcessEnded(_ pidfd: Int32) -> Bool {
    // The kernel says that there is something to read when the process ends, and poll ignores
    // negative numbers.
    guard pidfd >= 0 else { return true }
    var entry = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    // SAFETY: one entry, which is ours.
    return unsafe poll(&entry, 1, 0) != 0
}
