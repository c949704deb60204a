// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemSupport

extension Directory {
    /// Puts `bytes` in the place of the file `name`, whole or not at all: after a failure, as
    /// after a crash at any moment, the older file is there. When this returns, the new one is
    /// on the disk. Only a failed last `fsync` can throw with the new file in place.
    func replace(_ name: String, with bytes: [UInt8]) throws(EntryFailure) {
        removeLeftovers()
        let temporary = TemporaryName.random()
        do throws(EntryFailure) {
            try write(bytes, to: temporary)
            guard unsafe renameat(rawValue, temporary, rawValue, name) == 0 else { throw .last }
        } catch {
            unsafe _ = unlinkat(rawValue, temporary, 0)
            throw error
        }
        try synchronize()
    }

    /// Makes the file `name` where there is nothing of that name. When this returns, it is on the
    /// disk; a crash before that can leave a part of it.
    func create(_ name: String, with bytes: [UInt8]) throws(EntryFailure) {
        do throws(EntryFailure) {
            try write(bytes, to: name)
        } catch {
            if error != .failed(EEXIST) { unsafe _ = unlinkat(rawValue, name, 0) }
            throw error
        }
        try synchronize()
    }

    /// Removes the file or link `name`; when this returns, the disk knows.
    func remove(_ name: String) throws(EntryFailure) {
        guard unsafe unlinkat(rawValue, name, 0) == 0 else { throw .last }
        removeLeftovers()
        try synchronize()
    }

    /// Gives the entry `name` another name, in place of what has that.
    func rename(_ name: String, to other: String) throws(EntryFailure) {
        guard unsafe renameat(rawValue, name, rawValue, other) == 0 else { throw .last }
    }

    /// Removes the directory `name` if nothing is in it.
    func removeIfEmpty(_ name: String) {
        unsafe _ = unlinkat(rawValue, name, AT_REMOVEDIR)
    }

    private func write(_ bytes: [UInt8], to name: String) throws(EntryFailure) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let opened = unsafe openat(rawValue, name, flags, S_IRUSR | S_IWUSR)
        guard let file = Descriptor(adopting: opened) else { throw .last }
        var rest = bytes[...]
        while !rest.isEmpty {
            // SAFETY: the slice outlives the call.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(file.rawValue, $0.baseAddress, $0.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw count < 0 ? .last : .failed(EIO) }
            rest.removeFirst(count)
        }
        guard fsync(file.rawValue) == 0 else { throw .last }
    }

    /// Removes what writes of ours left when the machine or the daemon died in them. There is
    /// one daemon and it writes one file at a time, so none of them is in use.
    private func removeLeftovers() {
        guard let names = try? names() else { return }
        for case .some(let name) in names where TemporaryName.matches(name) {
            unsafe _ = unlinkat(rawValue, name, 0)
        }
    }
}

/// The names of files that are being written. Neither we nor fprintd take one for a print.
enum TemporaryName {
    private static let prefix = ".localauth-"

    static func random() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return prefix + String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func matches(_ name: String) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let digits = name.utf8.dropFirst(prefix.utf8.count)
        return digits.count == 16
            && digits.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) }
    }
}
