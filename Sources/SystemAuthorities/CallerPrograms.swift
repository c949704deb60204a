// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
internal import Glibc
package import LocalAuthModel
internal import SystemSupport

/// Finds out what a caller's program is called, by the best evidence that there is: its sandbox,
/// its security label, or else the name of what is executed.
@BusQueue package final class CallerPrograms: ProgramLookup {
    private let connection: BusConnection
    private let lookup: SharedLookup<CallerProcess, CallerProgram>

    /// - Parameters:
    ///   - connection: the system bus.
    ///   - threads: where files are read.
    ///   - root: where the kernel tells of processes.
    package init(on connection: BusConnection, threads: LookupThreads, root: String = "/proc") {
        self.connection = connection
        lookup = SharedLookup(on: threads, deadline: .seconds(2)) { Self.find($0, below: root) }
    }

    @BusQueue package func program(of caller: Caller) async -> CallerProgram? {
        guard let process = caller.process, !process.hasEnded,
            let program = await lookup.ask(process),
            await connection.isStillThere(caller)
        else { return nil }
        return program
    }

    private nonisolated static func find(
        _ process: CallerProcess, below root: String
    ) -> CallerProgram? {
        let folder = "\(root)/\(process.id)"
        if let text = try? readSmallFile("\(folder)/cgroup", limit: 16_384),
            let program = ProgramEvidence.sandbox(cgroup: text)
        {
            return program
        }
        if let program = process.label.flatMap(ProgramEvidence.program(label:)) { return program }
        let name = target(of: "\(folder)/exe") ?? name(in: "\(folder)/comm")
        return name.flatMap { ProgramEvidence.program($0, .unverified) }
    }

    /// Where a link leads; needs privileges for other users' processes. The kernel adds
    /// ` (deleted)` where the file is not there any more.
    private nonisolated static func target(of path: String) -> String? {
        let limit = 4096
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            // SAFETY: the kernel writes at most `limit` bytes; the path lives through the call.
            let got = unsafe buffer.withMemoryRebound(to: CChar.self) { buffer in
                unsafe buffer.baseAddress.map { unsafe readlink(path, $0, limit) } ?? -1
            }
            count = max(0, got)
        }
        // One that fills the buffer may have been cut.
        guard !bytes.isEmpty, bytes.count < limit else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private nonisolated static func name(in path: String) -> String? {
        guard let text = try? readSmallFile(path, limit: 256) else { return nil }
        return text.last == "\n" ? String(text.dropLast()) : text
    }
}
