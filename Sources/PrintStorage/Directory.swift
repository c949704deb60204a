// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemSupport

/// An open directory. What is below it is reached through it, one name at a time, and never
/// through a symbolic link.
struct Directory: ~Copyable {
    private let descriptor: Descriptor
    var rawValue: Int32 { descriptor.rawValue }

    private init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Opens the directory at a path that the administrator gave; links on the way are theirs.
    /// With `creating`, makes it and its parents where they are missing.
    static func open(path: String, creating: Bool = false) throws(EntryFailure) -> Directory {
        if creating { try create(path: path) }
        let directory = try Directory(open(at: AT_FDCWD, path, O_RDONLY | O_DIRECTORY))
        if let refusal = try directory.status().distrust { throw .refused(refusal) }
        return directory
    }

    /// The directory that holds the one at `path`; only to be watched, so anybody's will do.
    static func parent(of path: String) throws(EntryFailure) -> Directory {
        let start = path.utf8.first == UInt8(ascii: "/") ? "/" : "./"
        let names = path.split(separator: "/").dropLast()
        let parent = start + names.joined(separator: "/")
        return try Directory(open(at: AT_FDCWD, parent, O_RDONLY | O_DIRECTORY))
    }

    /// Opens the directory `name` in this one; with `creating`, makes it if it is missing.
    func child(_ name: String, creating: Bool = false) throws(EntryFailure) -> Directory {
        if creating { try make(name) }
        let child: Directory
        do throws(EntryFailure) {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            child = try Directory(Self.open(at: rawValue, name, flags))
        } catch .failed(ENOTDIR) {
            // What Linux says of a file and, with O_DIRECTORY, of a link too.
            let isLink = (try? status(of: name))?.isSymbolicLink ?? false
            throw .refused(isLink ? .symbolicLink : .notADirectory)
        }
        if let refusal = try child.status().distrust { throw .refused(refusal) }
        return child
    }

    /// The names in here, without `.` and `..`, in a fixed order; `nil` for each name that is
    /// not UTF-8.
    func names() throws(EntryFailure) -> [String?] {
        // Opened anew, because descriptors that are duplicates share the place where they read.
        let descriptor = unsafe openat(rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        guard let stream = unsafe fdopendir(descriptor) else {
            let failure = EntryFailure.last
            close(descriptor)
            throw failure
        }
        defer { unsafe _ = closedir(stream) }
        var names: [String?] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            // SAFETY: the name ends in a NUL within the record, which lives until the next
            // `readdir`; it is copied. The record can be shorter than its C type.
            let name = unsafe Self.text(
                UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 19))
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw .last }
        return names.sorted { ($0 ?? "") < ($1 ?? "") }
    }

    /// What the entry `name` is; a link is not followed.
    func status(of name: String) throws(EntryFailure) -> stat {
        var status = stat()
        guard unsafe fstatat(rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw .last
        }
        return status
    }

    private func status() throws(EntryFailure) -> stat {
        try Self.status(of: descriptor)
    }

    /// The bytes of the regular file `name`, if there are at most `limit` of them and nobody
    /// but root and us can have written it.
    func contents(of name: String, limit: Int) throws(EntryFailure) -> [UInt8] {
        // Looked at before it is opened, so that a device or a FIFO is not even touched.
        try Self.check(status(of: name), limit: limit)
        let file: Descriptor
        do throws(EntryFailure) {
            file = try Self.open(at: rawValue, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch .failed(ELOOP) {
            throw .refused(.symbolicLink)
        }
        let status = try Self.status(of: file)
        try Self.check(status, limit: limit)
        let size = Int(status.st_size)
        // One byte more than there should be, to see a file that grows.
        let bytes = try Self.read(file, upTo: size + 1)
        guard bytes.count == size else { throw .refused(.changedWhileRead) }
        return bytes
    }

    private static func check(_ status: stat, limit: Int) throws(EntryFailure) {
        if status.isSymbolicLink { throw .refused(.symbolicLink) }
        if !status.isRegularFile { throw .refused(.notAFile) }
        if let refusal = status.distrust { throw .refused(refusal) }
        if status.st_size > limit { throw .refused(.tooLarge) }
    }

    private static func read(
        _ file: borrowing Descriptor, upTo count: Int
    ) throws(EntryFailure) -> [UInt8] {
        var failure: EntryFailure?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                // SAFETY: the rest of the buffer has room for `count - filled` bytes.
                let got = unsafe Glibc.read(
                    file.rawValue, buffer.baseAddress.map { unsafe $0 + filled }, count - filled)
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = .last }
                if got <= 0 { break }
                filled += got
            }
        }
        if let failure { throw failure }
        return bytes
    }

    private static func status(of file: borrowing Descriptor) throws(EntryFailure) -> stat {
        var status = stat()
        guard unsafe fstat(file.rawValue, &status) == 0 else { throw .last }
        return status
    }

    private static func open(
        at directory: Int32, _ name: String, _ flags: Int32
    ) throws(EntryFailure) -> Descriptor {
        guard let opened = Descriptor(adopting: unsafe openat(directory, name, flags | O_CLOEXEC))
        else { throw .last }
        return opened
    }

    private static func text(_ pointer: UnsafeRawPointer) -> String? {
        unsafe String(validatingCString: pointer.assumingMemoryBound(to: CChar.self))
    }

    // MARK: Making

    private func make(_ name: String) throws(EntryFailure) {
        if unsafe mkdirat(rawValue, name, S_IRWXU) == 0 { return try synchronize() }
        guard errno == EEXIST else { throw .last }
    }

    private static func create(path: String) throws(EntryFailure) {
        let start = path.utf8.first == UInt8(ascii: "/") ? "/" : "."
        var parent = try Directory(open(at: AT_FDCWD, start, O_RDONLY | O_DIRECTORY))
        for name in path.split(separator: "/").map(String.init) {
            try parent.make(name)
            parent = try Directory(open(at: parent.rawValue, name, O_RDONLY | O_DIRECTORY))
        }
    }

    /// Returns once the names in here are on the disk.
    func synchronize() throws(EntryFailure) {
        guard fsync(rawValue) == 0 else { throw .last }
    }
}
