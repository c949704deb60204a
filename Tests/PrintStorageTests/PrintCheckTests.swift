// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthModel
import TestKit
import Testing

@testable import PrintStorage

@Suite struct `The look at a print` {
    let id = StoreFixture.id()

    private func refusal(_ change: (inout PrintBytes) -> Void) -> Refusal? {
        var print = PrintBytes()
        change(&print)
        return PrintCheck.refusal(of: print.bytes, for: id)
    }

    @Test func `passes good ones`() {
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0.isOnReader = true } == nil)
        #expect(refusal { $0.day = .min } == nil)
        #expect(refusal { $0.content = .raw("'text'") } == nil)
        #expect(refusal { $0.content = .scans([PrintBytes.Scan(minutiae: 200)]) } == nil)
        #expect(PrintCheck.refusal(of: PrintBytes.image().bytes, for: id) == nil)
        #expect(PrintCheck.refusal(of: PrintBytes.image(scans: 100).bytes, for: id) == nil)
    }

    @Test func `says what is wrong`() {
        #expect(refusal { $0.magic = "FP2" } == .notAPrint)
        #expect(refusal { $0.driver = "elan" } == .otherReader)
        #expect(refusal { $0.deviceID = "" } == .otherReader)
        #expect(refusal { $0.finger = 6 } == .otherFinger)
        #expect(refusal { $0.user = nil } == .otherUser)
        #expect(refusal { $0.user = "alicE" } == .otherUser)
        #expect(refusal { $0.content = .other(type: 0, "<'x'>") } == .unknownPrintType)
        #expect(refusal { $0.content = .other(type: 1, "('x',)") } == .damagedPrint)
    }

    @Test(arguments: [0, -1, 3_652_060, .max] as [Int32])
    func `takes no day that is none`(day: Int32) {
        #expect(refusal { $0.day = day } == .damagedPrint)
    }

    @Test func `takes no scan that libfprint has no room for`() {
        let scans: [PrintBytes.Scan] = [
            .init(minutiae: 0), .init(minutiae: 201),
            .init(x: [1], y: [], angles: [1]), .init(x: [1], y: [1, 2], angles: [1]),
            .init(x: [-1], y: [1], angles: [1]), .init(x: [1], y: [.max], angles: [1]),
            .init(x: [1], y: [1], angles: [.min]),
        ]
        for scan in scans {
            #expect(refusal { $0.content = .scans([.init(minutiae: 9), scan]) } == .damagedPrint)
        }
        let many = PrintBytes.image(scans: 101)
        #expect(PrintCheck.refusal(of: many.bytes, for: id) == .damagedPrint)
    }

    @Test func `passes no part of a print`() {
        for print in [PrintBytes(), PrintBytes.image()] {
            let bytes = print.bytes
            for count in bytes.indices {
                #expect(PrintCheck.refusal(of: Array(bytes[..<count]), for: id) != nil)
            }
        }
    }
}

@Suite struct `What the look passes` {
    @Test(arguments: [PrintBytes(), PrintBytes.image()])
    func `libfprint takes, whatever was done to the bytes`(print: PrintBytes) throws {
        let good = print.bytes
        var generator = SplitMix(seed: 0x5eed)
        var passed: [[UInt8]] = [good]
        let rounds = 25_000
        for _ in 0..<rounds {
            var bytes = good
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes.mutate(using: &generator)
            }
            if PrintCheck.refusal(of: bytes, for: StoreFixture.id()) == nil { passed.append(bytes) }
        }
        // A look that passes nothing, or everything, would prove nothing.
        #expect(passed.count > rounds / 100)
        #expect(passed.count < rounds)
        let result = try Probe.run(passed)
        #expect(result.reason == .exit)
        #expect(result.output == "\(passed.count) of \(passed.count)\n")
    }

    @Test func `is needed, because libfprint dies of the rest`() throws {
        for bytes in [[], Array("FP3".utf8), Array(PrintBytes().bytes.prefix(50))] {
            #expect(try Probe.run([bytes]).reason == .uncaughtSignal)
        }
    }
}

extension [UInt8] {
    /// Changes something, somewhere.
    fileprivate mutating func mutate(using generator: inout SplitMix) {
        guard !isEmpty else { return }
        let place = Int.random(in: indices, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: self[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: self[place] = .random(in: .min ... .max, using: &generator)
        case 2: self[place] = [0, 1, 0x7f, 0x80, 0xff][Int.random(in: 0..<5, using: &generator)]
        case 3: removeSubrange(place...)
        case 4: remove(at: place)
        case 5: insert(.random(in: .min ... .max, using: &generator), at: place)
        case 6:
            // A number where numbers are aligned, behind three bytes of magic.
            let start = place / 4 * 4 + 3
            let number = Int32(truncatingIfNeeded: generator.next() % 512)
            for index in 0..<4 where indices.contains(start + index) {
                self[start + index] = UInt8(truncatingIfNeeded: number >> (8 * Int32(index)))
            }
        default:
            let other = Int.random(in: indices, using: &generator)
            let count = Swift.min(16, count - Swift.max(place, other))
            let piece = self[other..<(other + count)]
            replaceSubrange(place..<(place + count), with: Array(piece))
        }
    }
}

/// The program that gives prints to libfprint.
private enum Probe {
    struct Result {
        let reason: Process.TerminationReason
        let output: String
    }

    static func run(_ prints: [[UInt8]]) throws -> Result {
        var batch = Data()
        for print in prints {
            for shift in [0, 8, 16, 24] { batch.append(UInt8(print.count >> shift & 0xff)) }
            batch.append(contentsOf: print)
        }
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("localauth-\(UUID().uuidString)")
        try batch.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: own).deletingLastPathComponent()
            .appendingPathComponent("print-probe")
        process.arguments = [file.path]
        // It is meant to die at times; nobody needs to be told where.
        process.environment = ["SWIFT_BACKTRACE": "enable=no"]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
            reason: process.terminationReason, output: String(decoding: output, as: UTF8.self))
    }
}
