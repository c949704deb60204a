// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// Recordings of real readers, which are no part of this package: a folder with one for each reader,
/// as libfprint's tests have them. They fit the libfprint that they were made with.
package enum Recordings {
    /// The folder: what LOCALAUTH_CAPTURES names, or else `captures` in what LOCALAUTH_SHARED names,
    /// or beside this package in `shared`, or where Debian's package of libfprint's tests puts them.
    package static let folder: String = {
        let variables = ProcessInfo.processInfo.environment
        // Who names a folder means that one.
        if let named = variables["LOCALAUTH_CAPTURES"] { return named }
        let shared =
            variables["LOCALAUTH_SHARED"]
            ?? URL(filePath: #filePath).appending(path: "../../../../../shared")
            .standardizedFileURL.path
        let folders = [
            shared + "/captures", "/usr/libexec/installed-tests/libfprint-2",
            "/usr/share/installed-tests/libfprint-2",
        ]
        return folders.first { isFile($0 + "/nb1010/device") } ?? folders[0]
    }()

    private static let runner = "/usr/bin/umockdev-run"

    /// Whether there are any. Says so on standard error when there are none: nobody is to take a
    /// skipped suite for a passed one.
    package static let areUsable: Bool = {
        let needed = [runner, folder]
        guard let missing = needed.first(where: { !isFile($0) }) else { return true }
        complain("SKIPPED: recorded readers, for want of \(missing) (see LOCALAUTH_CAPTURES)")
        return false
    }()

    /// Whether there is this reader's. Says so on standard error when there is not.
    package static func have(_ reader: String) -> Bool {
        guard areUsable else { return false }
        guard traffic(of: reader) != nil, isFile(file(reader, "device")) else {
            complain("SKIPPED: the recorded reader \(reader), for want of \(folder)/\(reader)")
            return false
        }
        return true
    }

    /// A file of the recording.
    package static func file(_ reader: String, _ name: String) -> String {
        "\(folder)/\(reader)/\(name)"
    }

    /// Where the reader's traffic is.
    package static func traffic(of reader: String) -> String? {
        ["custom.pcapng", "capture.pcapng", "capture.ioctl"].map { file(reader, $0) }
            .first { isFile($0) }
    }

    /// What stands before a program's command line, so that it finds the recorded reader: `reader` is
    /// the name of its folder, which begins with its driver's, and `traffic` another recording of it.
    package static func wrapper(_ reader: String, traffic other: String? = nil) -> [String] {
        let device = file(reader, "device")
        let traffic = other ?? traffic(of: reader) ?? file(reader, "capture.ioctl")
        // An ioctl recording says of which device node it is; a pcap recording is of the device's
        // folder in sysfs.
        let replay =
            traffic.hasSuffix(".ioctl")
            ? ["-i", "\(firstWord(of: traffic, after: "@DEV "))=\(traffic)"]
            : ["-p", "/sys\(firstWord(of: device, after: "P: "))=\(traffic)"]
        let driver = reader.prefix { $0 != "-" }
        return [
            "/usr/bin/env", "FP_DEVICE_EMULATION=1", "FP_DRIVERS_WHITELIST=\(driver)",
            "FP_DRIVERS_ALLOWLIST=\(driver)", runner, "-d", device,
        ] + replay + ["--"]
    }

    private static func firstWord(of file: String, after beginning: String) -> String {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        let line = text.prefix { $0 != "\n" }
        return line.hasPrefix(beginning)
            ? String(line.dropFirst(beginning.count).prefix { $0 != " " }) : ""
    }

    private static func isFile(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    private static let complaints = Mutex<Set<String>>([])

    /// Says it on standard error, once.
    private static func complain(_ text: String) {
        guard complaints.withLock({ $0.insert(text).inserted }) else { return }
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }
}
