// SPDX-License-Identifier: Apache-2.0

/// The files of a program's rights.
struct RightFiles: Sendable {
    /// What is kept of a right.
    struct Record: Codable, Sendable, Equatable {
        var version = 1
        var requirement: LAAuthenticationRequirement.Kind
        var tag: Int
        var domainState: Data?
    }

    private static let largest = 4_096
    private let folder: URL

    /// The files of this program, below the user's folder for data (XDG Base Directory
    /// Specification).
    init() {
        let environment = ProcessInfo.processInfo.environment
        // A relative path is to be ignored, says the specification.
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let base =
            data.map { URL(filePath: $0) } ?? URL.homeDirectory.appending(path: ".local/share")
        let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        self.init(
            folder: base.appending(path: "localauth/rights")
                .appending(path: Self.encoded(String(program.prefix(100)))))
    }

    init(folder: URL) { self.folder = folder }

    /// A text as a name of a file: never one that means another folder.
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }

    private func file(_ identifier: String, else code: CocoaError.Code) throws -> URL {
        let name = Self.encoded(identifier)
        // A name of a file has at most 255 bytes, less those of a temporary one's.
        guard !identifier.isEmpty, name.utf8.count <= 200 else { throw CocoaError(code) }
        return folder.appending(path: name + ".json")
    }

    /// - Throws: `CocoaError` when there is none, or it is not one that was written here: never a
    ///   weaker one.
    func read(_ identifier: String) throws -> Record {
        let file = try file(identifier, else: .fileReadInvalidFileName)
        // What is not a file, such as a pipe, could be waited for in vain.
        let type = try FileManager.default.attributesOfItem(atPath: file.path)[.type]
        guard type as? FileAttributeType == .typeRegular else {
            throw CocoaError(.fileReadCorruptFile)
        }
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        let data = try handle.read(upToCount: Self.largest + 1) ?? Data()
        guard data.count <= Self.largest,
            let record = try? JSONDecoder().decode(Record.self, from: data), record.version == 1,
            record.requirement != .biometryCurrentSet || record.domainState != nil
        else { throw CocoaError(.fileReadCorruptFile) }
        return record
    }

    /// Writes a file that is whole or not there.
    func write(_ record: Record, _ identifier: String) throws {
        let file = try file(identifier, else: .fileWriteInvalidFileName)
        let manager = FileManager.default
        try manager.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let temporary = folder.appending(path: UUID().uuidString + ".new")
        defer { try? manager.removeItem(at: temporary) }
        try JSONEncoder().encode(record).write(to: temporary, options: .withoutOverwriting)
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: temporary.path)
        // A link to a name that is taken fails, where a move would replace it.
        try manager.linkItem(at: temporary, to: file)
    }

    func remove(_ identifier: String) throws {
        try FileManager.default.removeItem(at: file(identifier, else: .fileNoSuchFile))
    }

    func removeAll() throws {
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        try FileManager.default.removeItem(at: folder)
    }
}
