// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads a small text file as a whole.
/// - Parameters:
///   - path: where it is.
///   - limit: the most bytes that it may have.
/// - Returns: its text.
/// - Throws: the system's error; `EFBIG` for a larger file, `EILSEQ` for one that is not UTF-8,
///   `EINVAL` for what is no regular file.
package func readSmallFile(_ path: String, limit: Int) throws(SystemError) -> String {
    guard let file = Descriptor(adopting: unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
    else {
        throw SystemError.last
    }
    var status = stat()
    // SAFETY: the kernel fills the struct.
    guard unsafe fstat(file.rawValue, &status) == 0 else { throw SystemError.last }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(code: EINVAL) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count <= limit {
        // SAFETY: at most the rest of the buffer is written.
        let got = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe read(
                file.rawValue, buffer.baseAddress.map { unsafe $0 + count }, limit + 1 - count)
        }
        if got < 0 && errno == EINTR { continue }
        guard got >= 0 else { throw SystemError.last }
        if got == 0 { break }
        count += got
    }
    guard count <= limit else { throw SystemError(code: EFBIG) }
    guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
        throw SystemError(code: EILSEQ)
    }
    return text
}
