// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LocalAuthModel
internal import SystemSupport

/// The USB devices and hubs of the machine, as the kernel shows them in a folder with an entry
/// for each. `1-4.2` is what is plugged into the second port of the hub in the fourth port of
/// bus 1, whose root hub is `usb1`.
package struct USBTree {
    /// More entries than a machine can have; a folder with more is not the kernel's.
    private static let mostEntries = 16_384

    private let folder: String

    package init(folder: String = "/sys/bus/usb/devices") { self.folder = folder }

    /// Where the device with this address is, as far as the firmware tells of it and of each hub
    /// on its way.
    package func placement(bus: UInt8, address: UInt8) -> ReaderPlacement {
        let name = names { Self.isDevice($0, on: bus) }.first {
            number("busnum", of: $0) == Int(bus) && number("devnum", of: $0) == Int(address)
        }
        guard let name else { return .unknown }
        return Self.placement(Self.way(to: name).map { text("removable", of: $0) })
    }

    /// What the words of the device and of its hubs come to.
    package static func placement(_ words: [String?]) -> ReaderPlacement {
        if words.contains("removable") { return .external }
        return !words.isEmpty && words.allSatisfy { $0 == "fixed" } ? .builtIn : .unknown
    }

    /// The device and the hubs between it and its root hub: `1-4.2` and `1-4`.
    ///
    /// The root hub is not among them. It is in no port, so the kernel never knows its place;
    /// where it is, the machine's own controller is.
    package static func way(to device: String) -> [String] {
        var way = [device]
        while let dot = way[way.count - 1].lastIndex(of: ".") {
            way.append(String(way[way.count - 1][..<dot]))
        }
        return way
    }

    /// Whether an entry is that of a device, and not of an interface of one or of a root hub.
    private static func isDevice(_ name: String, on bus: UInt8) -> Bool {
        let parts = name.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == String(bus) else { return false }
        // USB has seven tiers, and the root hub is the first.
        let ports = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return ports.count <= 6 && ports.allSatisfy { UInt8($0) != nil }
    }

    private func number(_ attribute: String, of name: String) -> Int? {
        text(attribute, of: name).flatMap { Int($0) }
    }

    private func text(_ attribute: String, of name: String) -> String? {
        let text = try? readSmallFile("\(folder)/\(name)/\(attribute)", limit: 64)
        return text?.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init)
    }

    private func names(where isWanted: (String) -> Bool) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        for _ in 0..<Self.mostEntries {
            guard let entry = unsafe readdir(stream) else { break }
            // SAFETY: the name ends with a NUL within the record, which lives until the next
            // `readdir`; it is copied. The record can be shorter than its C type.
            let name = unsafe String(
                cString: UnsafeRawPointer(entry).advanced(
                    by: MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
                ).assumingMemoryBound(to: CChar.self))
            if isWanted(name) { names.append(name) }
        }
        return names
    }
}
