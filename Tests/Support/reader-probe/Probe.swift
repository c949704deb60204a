// SPDX-License-Identifier: Apache-2.0

internal import FingerprintReaders
internal import Foundation
internal import LocalAuthModel
internal import Synchronization
internal import SystemSupport
internal import TestKit

/// Drives `FprintReaders` by commands, one a line on standard input, and tells what comes of
/// them on standard output. libfprint reads the environment and its loop is process-wide, so each
/// test needs a process of its own.
///
/// Work on a reader goes on in the background; its result is told as `WORK READER RESULT`.
@main
actor Probe {
    private let readers = FprintReaders(log: Log(topic: "readers"))
    private var leases: [UInt32: any OpenReader] = [:]
    private var work: [UInt32: Task<Void, Never>] = [:]
    private let known = Mutex<[UInt32: ReaderDescription]>([:])
    private var prints: [String: StoredPrint] = [:]
    private var leftovers: [LeftoverPrint] = []

    static func main() async {
        let probe = Probe()
        for await line in lines(from: .standardInput) {
            await probe.obey(line.split(separator: " ").map(String.init))
        }
    }

    private func obey(_ words: [String]) async {
        switch (words.first, words.count) {
        case ("start", 1):
            await readers.start { change in
                if case .added(let reader) = change {
                    self.known.withLock { $0[reader.id.number] = reader }
                }
                tell(describe(change))
            }
            tell("started")
        case ("stop", 1):
            await readers.stop()
            tell("stopped")
        case ("suspend", 1):
            Task {
                await readers.suspend()
                tell("suspended")
            }
        case ("resume", 1):
            Task {
                await readers.resume()
                tell("resumed")
            }
        case ("threads", 1): tell("threads \(readerThreads())")
        case ("descriptors", 1): tell("descriptors \(openDescriptors())")
        case (let name?, 2...): await obey(name, UInt32(words[1]) ?? 0, Array(words[2...]))
        default: tell("what? \(words)")
        }
    }

    private func obey(_ name: String, _ reader: UInt32, _ words: [String]) async {
        switch (name, words.count) {
        case ("open", 0): Task { await open(reader) }
        case ("close", 0): Task { await close(reader) }
        case ("drop", 0):
            leases[reader] = nil
            tell("drop \(reader) ok")
        case ("cancel", 0): work[reader]?.cancel()
        case ("placement", 0):
            let placement = known.withLock { $0[reader]?.placement.rawValue }
            tell("placement \(reader) \(placement ?? "-")")
        case ("scan", 0...1):
            let gallery = gallery(words)
            begin(name, reader) { lease throws(ReaderFailure) in
                let verdict = try await lease.scan(against: gallery) { state in
                    tell("sensor \(reader) \(state)")
                }
                return describe(verdict)
            }
        case ("recognise", 0...1):
            let gallery = gallery(words)
            begin(name, reader) { lease throws(ReaderFailure) in
                describe(try await lease.recognise(among: gallery))
            }
        case ("contents", 0...1):
            let gallery = gallery(words)
            begin(name, reader) { lease throws(ReaderFailure) in
                let contents = try await lease.contents(knowing: gallery)
                await self.keep(contents?.leftovers ?? [])
                return contents.map { describe($0) } ?? "none"
            }
        // The first that the contents showed.
        case ("discard", 0):
            guard !leftovers.isEmpty else { return tell("what? \(name)") }
            let leftover = leftovers.removeFirst()
            begin(name, reader) { lease throws(ReaderFailure) in
                try await lease.delete(leftover)
                return "ok"
            }
        case ("erase", 0):
            begin(name, reader) { lease throws(ReaderFailure) in
                try await lease.erase()
                return "ok"
            }
        case ("delete", 1):
            guard let print = prints[words[0]] else { return tell("what? \(words)") }
            begin(name, reader) { lease throws(ReaderFailure) in
                try await lease.delete(print)
                return "ok"
            }
        case ("enrol", 3): enrol(reader, as: words[0], user: words[1], finger: words[2])
        case ("race", 3):
            guard let lease = leases[reader], let print = prints[words[0]],
                let count = Int(words[1])
            else { return tell("what? \(words)") }
            let race = Race(lease: lease, print: print, socket: VirtualReader(path: words[2]))
            tell("race \(reader) \(await race.run(count))")
        default: tell("what? \(name) \(words)")
        }
    }

    private func gallery(_ words: [String]) -> [StoredPrint] {
        words.first?.split(separator: ",").compactMap { prints[String($0)] } ?? []
    }

    private func open(_ reader: UInt32) async {
        do throws(ReaderFailure) {
            leases[reader] = try await readers.open(ReaderID(reader))
            tell("open \(reader) ok")
        } catch {
            tell("open \(reader) failed \(error)")
        }
    }

    private func close(_ reader: UInt32) async {
        await leases[reader]?.close()
        tell("close \(reader) ok")
    }

    private func enrol(_ reader: UInt32, as label: String, user: String, finger: String) {
        guard let kind = known.withLock({ $0[reader]?.kind }), let user = UserName(user),
            let finger = Finger(wireName: finger)
        else { return tell("what? \(label)") }
        let id = PrintID(user: user, reader: kind, finger: finger)
        begin("enrol", reader) { lease throws(ReaderFailure) in
            let print = try await lease.enrol(id) { stage in
                let fault = stage.fault?.rawValue ?? "-"
                tell("stage \(reader) \(stage.done)/\(stage.total) \(fault)")
            }
            await self.keep(print, as: label)
            return "ok"
        }
    }

    private func begin(
        _ name: String, _ reader: UInt32,
        _ body: @escaping @Sendable (any OpenReader) async throws(ReaderFailure) -> String
    ) {
        guard let lease = leases[reader] else { return tell("\(name) \(reader) failed no lease") }
        let isFirst = work[reader] == nil
        let task = Task {
            do throws(ReaderFailure) {
                tell("\(name) \(reader) \(try await body(lease))")
            } catch {
                tell("\(name) \(reader) failed \(error)")
            }
            if isFirst { work[reader] = nil }
        }
        // Of work that is tried at the same time, "cancel" means the first.
        if isFirst { work[reader] = task }
    }

    private func keep(_ print: StoredPrint, as label: String) { prints[label] = print }

    private func keep(_ leftovers: [LeftoverPrint]) { self.leftovers = leftovers }
}
