// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LocalAuthModel

/// Writes one line at once, so that lines of several threads do not mix.
func tell(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func describe(_ change: ReaderChange) -> String {
    switch change {
    case .added(let reader): "added \(describe(reader))"
    case .changed(let reader): "changed \(describe(reader))"
    case .removed(let reader): "removed \(reader.number)"
    }
}

private func describe(_ reader: ReaderDescription) -> String {
    "\(reader.id.number) \(reader.kind.driver) \(reader.scanType) \(reader.enrolmentStages) "
        + "\(reader.temperature) \(reader.features.wireNames.joined(separator: ","))"
}

func describe(_ verdict: ScanVerdict) -> String {
    switch verdict {
    case .matched(let print): "matched \(describe(print))"
    case .missed: "missed"
    case .badScan(let cause): "bad \(cause.rawValue)"
    }
}

func describe(_ recognition: Recognition) -> String {
    switch recognition {
    case .known(let print): "known \(describe(print))"
    case .leftover(let print): "leftover \(describe(print))"
    case .unknown: "unknown"
    case .badScan(let cause): "bad \(cause.rawValue)"
    }
}

func describe(_ contents: ReaderContents) -> String {
    let words =
        contents.known.map { "known \(describe($0))" }
        + contents.leftovers.map { "leftover \(describe($0))" }
    return words.isEmpty ? "empty" : words.sorted().joined(separator: ", ")
}

private func describe(_ print: PrintID) -> String {
    "\(print.user.rawValue)/\(print.finger.wireName)"
}

private func describe(_ print: LeftoverPrint) -> String { print.user?.rawValue ?? "nobody's" }

/// How many threads the reader queue has.
func readerThreads() -> Int {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.count { task in
        let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
        return name == "readers\n"
    }
}

/// How many descriptors this process has open.
func openDescriptors() -> Int {
    let folder = "/proc/self/fd"
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count
}
