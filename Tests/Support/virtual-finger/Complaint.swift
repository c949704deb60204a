// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why the program ends without having done what was asked.
enum Complaint: Error {
    /// The arguments make no sense.
    case usage(String)
    /// They did, but it could not be done.
    case failure(String)

    var status: Int32 {
        switch self {
        case .usage: 2
        case .failure: 1
        }
    }

    var text: String {
        switch self {
        case .usage(let reason): "\(reason)\n\(manual)"
        case .failure(let reason): reason
        }
    }
}

/// How the program is called.
let manual = """
    usage: virtual-finger image SOCKET [FINGER] [--wait SECONDS]
           virtual-finger retry SOCKET NUMBER [--wait SECONDS]
           virtual-finger error SOCKET NUMBER [--wait SECONDS]
           virtual-finger unplug SOCKET [--wait SECONDS]
           virtual-finger command SOCKET TEXT [--wait SECONDS]
           virtual-finger write FILE.pgm [FINGER]
           virtual-finger ways

    image    lays a synthetic finger on libfprint's virtual_image, once
    retry    makes its scan ask for another touch: 0 general, 1 too short, 2 not centred,
             3 not lifted
    error    makes its scan fail: 0 general, 4 busy, 5 protocol, 256 removed, 257 too hot, …
    unplug   pulls its plug
    command  gives virtual_device or virtual_device_storage one command, such as 'SCAN x', and
             prints the answer
    write    writes the picture to a file, or for - to the standard output
    ways     lists the names that --way knows, and what they mean

    SOCKET is what FP_VIRTUAL_IMAGE, FP_VIRTUAL_DEVICE or FP_VIRTUAL_DEVICE_STORAGE names. It is
    waited for, for --wait SECONDS (10).

    FINGER:
      --finger N    which finger (1)
      --touch T     which touch of it, all a little different (0); write takes a range such as 0-9
                    and puts the pictures one after the other
      --way WAY     how it is laid down: careful, turned-20, hurried, … (careful); write takes
                    several with commas between them, and puts all touches of a way before the next
      --size SIZE   small (160 × 160), full (256 × 300) or slow (256 × 256, finger 6 takes some
                    seconds to match); the sizes of one number are different fingers
      --wrong       another finger, which no number below a million gives
    """

/// Writes a line to the standard error.
func printError(_ text: String) {
    writeAll(Array((text + "\n").utf8), to: STDERR_FILENO)
}

/// Writes everything; `false` if that fails.
@discardableResult
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        // SAFETY: the slice's memory outlives the call, which reads no more than its count.
        let count = unsafe rest.withUnsafeBytes { bytes in
            unsafe write(descriptor, bytes.baseAddress, bytes.count)
        }
        guard count > 0 || errno == EINTR else { return false }
        rest = rest.dropFirst(max(count, 0))
    }
    return true
}
