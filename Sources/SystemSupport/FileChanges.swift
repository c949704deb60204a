// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Tells when some files of one directory are written or replaced.
package final class FileChanges: Sendable {
    private let descriptor: Descriptor
    private let names: Set<String>

    /// `nil` where the kernel has no watch left, or the directory cannot be watched.
    package init?(of names: Set<String>, in directory: String) {
        let interest = UInt32(
            IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM
                | IN_MOVED_TO | IN_ONLYDIR)
        guard
            let descriptor = Descriptor(
                adopting: inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))),
            unsafe inotify_add_watch(descriptor.rawValue, directory, interest) >= 0
        else { return nil }
        self.descriptor = descriptor
        self.names = names
    }

    /// Calls `action` on the executor's thread after each change, and when changes were missed.
    package func start(on executor: PollExecutor, action: @escaping () -> Void) {
        _ = executor.watch(descriptor.rawValue, for: .input) { [self] _ in
            if takeNotices() { action() }
        }
    }

    /// Takes all notices; whether one of them concerns us.
    private func takeNotices() -> Bool {
        var concerns = false
        unsafe withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while true {
                // SAFETY: the kernel writes at most `count` bytes, whole records only.
                let count = unsafe read(descriptor.rawValue, buffer.baseAddress, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                let records = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if unsafe holdsOurs(records) { concerns = true }
            }
        }
        return concerns
    }

    private func holdsOurs(_ records: UnsafeRawBufferPointer) -> Bool {
        let header = MemoryLayout<inotify_event>.size
        var offset = 0
        while offset + header <= records.count {
            // SAFETY: the header is within the buffer, and so is the name, by the kernel's word
            // and by `min`.
            let mask = unsafe records.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            let length = unsafe records.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
            let start = offset + header
            let end = min(start + Int(length), records.count)
            let name = unsafe records[start..<end].prefix { $0 != 0 }
            // Without a name it is the directory itself, or a notice was lost.
            if length == 0 || mask & UInt32(IN_Q_OVERFLOW | IN_IGNORED) != 0 { return true }
            if names.contains(unsafe String(decoding: name, as: UTF8.self)) { return true }
            offset = end
        }
        return false
    }
}
