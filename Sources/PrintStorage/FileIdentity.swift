// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Tells whether a file is still the one that was looked at: changes with its content, its
/// place on the disk, its owner and its mode.
struct FileIdentity: Hashable {
    let inode: UInt64
    private let device: UInt64
    private let size: Int64
    private let mode: UInt32
    private let owner: UInt32
    private let modified: [Int]
    private let changed: [Int]

    init(_ status: stat) {
        inode = UInt64(status.st_ino)
        device = UInt64(status.st_dev)
        size = Int64(status.st_size)
        mode = status.st_mode
        owner = status.st_uid
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}

extension stat {
    var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
    var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isSymbolicLink: Bool { st_mode & S_IFMT == S_IFLNK }

    /// Why nobody should believe what is in there: somebody but root and us could have put it
    /// there. fprintd writes 0644 files into 0700 directories, all of them root's.
    var distrust: Refusal? {
        if st_uid != 0 && st_uid != geteuid() { return .foreignOwner }
        if st_mode & (S_IWGRP | S_IWOTH) != 0 { return .writableByOthers }
        return nil
    }
}
