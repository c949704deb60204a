// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LocalAuthModel

/// Why an entry is passed over although it is there. The raw value is what the log says.
enum Refusal: String, Hashable {
    case notADirectory = "not a directory"
    case notAFile = "not a regular file"
    case symbolicLink = "symbolic link"
    case foreignOwner = "owned by somebody else"
    case writableByOthers = "writable by others"
    case readableByOthers = "readable by others"
    case tooLarge = "too large"
    case changedWhileRead = "changed while it was read"
    case unreadable = "cannot be read"
    case misnamed = "name not in use here"
    case notAPrint = "not a print"
    case damagedPrint = "damaged print"
    case unknownPrintType = "unknown type of print"
    case otherReader = "made for another reader"
    case otherFinger = "made of another finger"
    case otherUser = "made for another user"
    case notARecord = "not a lockout record"
    case notAGeneration = "not a generation record"
    case notASecret = "not a secret"
    case notAHistory = "not a history"
    case damagedHistory = "damaged history"
    case otherAccount = "of another account"
}

/// What came of reaching for an entry of a directory.
enum EntryFailure: Error, Hashable {
    case missing
    /// It is there and will not do.
    case refused(Refusal)
    /// The system call failed; the number is `errno`.
    case failed(Int32)

    /// The failure of the system call that has just failed on this thread.
    static var last: Self { errno == ENOENT ? .missing : .failed(errno) }

    /// Whether the fault is not the file's but the daemon's or the machine's.
    var isShortage: Bool {
        switch self {
        case .failed(EMFILE), .failed(ENFILE), .failed(ENOMEM): true
        case .failed, .refused, .missing: false
        }
    }
}

extension StorageFailure {
    /// The one place where a failed look at the disk becomes the port's word.
    init(_ failure: EntryFailure) {
        self =
            switch failure {
            case .missing: .notFound
            case .failed(let code): .io(code)
            case .refused(.symbolicLink): .io(ELOOP)
            case .refused(.notADirectory): .io(ENOTDIR)
            case .refused(.foreignOwner), .refused(.writableByOthers): .io(EACCES)
            case .refused: .io(EINVAL)
            }
    }
}
