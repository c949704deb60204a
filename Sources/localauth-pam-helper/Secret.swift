// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What somebody has typed: one copy, in memory of its own that is neither swapped nor dumped, and
/// that is wiped when it goes. Nothing prints it.
@safe struct Secret: ~Copyable {
    /// PAM takes no longer answer (`PAM_MAX_RESP_SIZE`).
    static let longest = 512

    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    /// `nil` when there is no memory left.
    init?() {
        let size = Int(sysconf(Int32(_SC_PAGESIZE)))
        let pages = unsafe mmap(
            nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let pages = unsafe pages, unsafe pages != MAP_FAILED else { return nil }
        unsafe buffer = UnsafeMutableRawBufferPointer(start: pages, count: size)
        // Not to be swapped, nor put into a core file. Where that is refused, it is wiped still.
        unsafe _ = mlock(pages, size)
        unsafe _ = madvise(pages, size, MADV_DONTDUMP)
    }

    deinit {
        guard let start = unsafe buffer.baseAddress else { return }
        // SAFETY: the pages are ours alone; `explicit_bzero` is not optimised away.
        unsafe explicit_bzero(start, buffer.count)
        unsafe munmap(start, buffer.count)
    }

    var isEmpty: Bool { count == 0 }
    var isTooLong: Bool { count > Self.longest }

    /// Whether a C string would end before its end.
    var holdsNull: Bool { unsafe buffer[..<count].contains(0) }

    /// Reads on, up to one byte more than may be.
    /// - Returns: what read(2) gives.
    mutating func readMore(from descriptor: Int32) -> Int {
        guard let start = unsafe buffer.baseAddress else { return -1 }
        // SAFETY: a page is larger than the longest secret by far.
        let got = unsafe read(descriptor, start + count, Self.longest + 1 - count)
        if got > 0 { count += got }
        return got
    }

    /// A copy for PAM, which wipes and frees it.
    func copyForPAM() -> UnsafeMutablePointer<CChar>? {
        guard let start = unsafe buffer.baseAddress, let copy = unsafe malloc(count + 1) else {
            return nil
        }
        // SAFETY: the copy has room for the bytes and the NUL behind them.
        unsafe memcpy(copy, start, count)
        unsafe copy.storeBytes(of: 0, toByteOffset: count, as: CChar.self)
        return unsafe copy.assumingMemoryBound(to: CChar.self)
    }
}
