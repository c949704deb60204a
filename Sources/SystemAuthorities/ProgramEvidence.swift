// SPDX-License-Identifier: Apache-2.0

internal import LocalAuthModel

/// What texts about a process say of its program. Pure; every text is hostile.
enum ProgramEvidence {
    /// Longer than any application id or path that a prompt could show.
    private static let limit = 256

    static func program(_ name: String, _ evidence: CallerProgram.Evidence) -> CallerProgram? {
        plainLine(name, limit: limit).map { CallerProgram(name: $0, evidence: evidence) }
    }

    // MARK: Control group

    /// The sandboxed application whose control group a process is in: Flatpak puts each into a
    /// scope `app-flatpak-ID-NUMBER.scope`, Snap into `snap.NAME.APP….scope` or `.service`.
    ///
    /// The outermost counts: what is further in was made by what is in it.
    /// - Parameter text: the process's `cgroup` file.
    /// - Returns: `nil` for a process in no sandbox's group.
    static func sandbox(cgroup text: String) -> CallerProgram? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            // systemd's hierarchy: the unified one, or its own of version 1.
            guard fields.count == 3, fields[1].isEmpty || fields[1] == "name=systemd" else {
                continue
            }
            for unit in fields[2].split(separator: "/") {
                guard let id = flatpak(unit) ?? snap(unit) else { continue }
                return program(id, .sandbox)
            }
        }
        return nil
    }

    private static func flatpak(_ unit: Substring) -> String? {
        let (start, end) = ("app-flatpak-", ".scope")
        guard unit.hasPrefix(start), unit.hasSuffix(end),
            unit.utf8.count > start.utf8.count + end.utf8.count
        else { return nil }
        let middle = unit.dropFirst(start.count).dropLast(end.count)
        guard let dash = middle.lastIndex(of: "-"), let id = unescaped(middle[..<dash]) else {
            return nil
        }
        let number = middle[middle.index(after: dash)...]
        let isID = isName(id, with: "._-") && id.contains(".") && !number.isEmpty
        return isID && number.utf8.allSatisfy(isDigit) ? id : nil
    }

    private static func snap(_ unit: Substring) -> String? {
        guard let end = [".scope", ".service"].first(where: { unit.hasSuffix($0) }) else {
            return nil
        }
        return unescaped(unit.dropLast(end.count)).flatMap { snap(tag: $0[...]) }
    }

    /// The snap of a security tag `snap.NAME.APP`, or of what begins with one.
    private static func snap(tag: Substring) -> String? {
        let parts = tag.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == "snap", !parts[2].isEmpty,
            isName(String(parts[1]), with: "_-")
        else { return nil }
        return String(parts[1])
    }

    /// Undoes systemd's `\xNN`. Other escapes there are not.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard rest.popFirst() == UInt8(ascii: "x"), rest.count >= 2,
                let value = UInt8(String(Substring(rest.prefix(2))), radix: 16)
            else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isName(_ text: String, with others: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255
            && text.utf8.allSatisfy { byte in
                isDigit(byte) || others.utf8.contains(byte)
                    || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    // MARK: Security label

    /// What a security label says: the program, where the kernel confines it under a name of its
    /// own; nothing, where the label is that of everything that nobody confines.
    static func program(label: String) -> CallerProgram? {
        // AppArmor: `NAME (mode)`.
        if label.hasSuffix(")"), let open = label.lastIndex(of: "("), open > label.startIndex,
            label[label.index(before: open)] == " "
        {
            let name = label[..<label.index(before: open)]
            let mode = label[label.index(after: open)...].dropLast()
            guard mode != "unconfined", name != "unconfined" else { return nil }
            if mode != "complain", let snap = snap(tag: name) { return program(snap, .sandbox) }
            return program(String(name), .label)
        }
        // SELinux: `user:role:type:level`.
        let fields = label.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
        if fields.count >= 3, personal.contains(String(fields[2])) { return nil }
        // AppArmor without a mode, and Smack's names for everything.
        guard !["unconfined", "_", "*", "^", "?"].contains(label) else { return nil }
        return program(label, .label)
    }

    /// SELinux's types of whatever a person runs.
    private static let personal: Set<String> = [
        "unconfined_t", "unconfined_service_t", "user_t", "staff_t", "sysadm_t", "guest_t",
        "xguest_t", "initrc_t", "kernel_t",
    ]
}
