// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import SystemSupport

/// The kernel's notices of what happens in directories.
struct Inotify: ~Copyable {
    /// One notice.
    struct Event {
        /// Which watch it is of; -1 when notices were lost.
        let watch: Int32
        private let mask: UInt32
        /// The entry concerned; `nil` when it is the watched directory itself, or not UTF-8.
        let name: String?

        fileprivate init(watch: Int32, mask: UInt32, name: String?) {
            self.watch = watch
            self.mask = mask
            self.name = name
        }

        var isOverflow: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }
        /// The watch has ended.
        var isEnd: Bool { mask & UInt32(IN_IGNORED) != 0 }
        /// The watched directory is not, or may not be, where it was.
        var isLoss: Bool {
            mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) != 0
        }
        /// The entry is a directory.
        var isDirectory: Bool { mask & UInt32(IN_ISDIR) != 0 }
        /// The entry has come, or has taken the place of another one.
        var isArrival: Bool { mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0 }
        /// It has come empty, and is yet to be written.
        var isCreation: Bool { mask & UInt32(IN_CREATE) != 0 }
        var isWriting: Bool { mask & UInt32(IN_MODIFY) != 0 }
        /// Whoever wrote it is done.
        var isWritten: Bool { mask & UInt32(IN_CLOSE_WRITE) != 0 }
        /// The entry is not one any more.
        var isDeparture: Bool { mask & UInt32(IN_DELETE | IN_MOVED_FROM) != 0 }
        var isDirectoryGone: Bool { isDirectory && isDeparture }
    }

    private static let interest = UInt32(
        IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB
            | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

    private let descriptor: Descriptor
    var rawValue: Int32 { descriptor.rawValue }

    init() throws(EntryFailure) {
        let opened = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        guard let descriptor = Descriptor(adopting: opened) else { throw .last }
        self.descriptor = descriptor
    }

    /// Watches the directory that is open, wherever its name leads by now. Gives the watch's
    /// number, the same one for the same directory.
    func watch(_ directory: borrowing Directory) throws(EntryFailure) -> Int32 {
        // There is no call that takes a descriptor; this link is one.
        let path = "/proc/self/fd/\(directory.rawValue)"
        let watch = unsafe inotify_add_watch(rawValue, path, Self.interest)
        guard watch >= 0 else { throw .failed(errno) }
        return watch
    }

    func unwatch(_ watch: Int32) { inotify_rm_watch(rawValue, watch) }

    /// All notices that are there.
    func events() -> [Event] {
        var events: [Event] = []
        unsafe withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while true {
                // SAFETY: the kernel writes at most `count` bytes, whole records only.
                let count = unsafe read(rawValue, buffer.baseAddress, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                unsafe Self.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count]), into: &events)
            }
        }
        return events
    }

    private static func parse(_ buffer: UnsafeRawBufferPointer, into events: inout [Event]) {
        let header = MemoryLayout<inotify_event>.size
        var offset = 0
        while offset + header <= buffer.count {
            // SAFETY: the header is within the buffer, and so is the name, by the kernel's word
            // and by `clamped`.
            let watch = unsafe buffer.loadUnaligned(fromByteOffset: offset, as: Int32.self)
            let mask = unsafe buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            let length = unsafe buffer.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
            let start = offset + header
            let end = min(start + Int(length), buffer.count)
            let name = unsafe buffer[start..<end].prefix { $0 != 0 }
            events.append(
                Event(
                    watch: watch, mask: mask,
                    name: length == 0 ? nil : unsafe String(validating: name, as: UTF8.self)))
            offset = end
        }
    }
}
