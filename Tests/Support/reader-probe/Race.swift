// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LocalAuthModel
internal import TestKit

/// Cancels scans at the very moment at which the finger matches, over and over.
struct Race: Sendable {
    let lease: any OpenReader
    let print: StoredPrint
    let socket: VirtualReader

    /// Runs so many races; gives how many ended in which way.
    func run(_ count: Int) async -> String {
        var ends: [String: Int] = [:]
        for round in 0..<count { ends[await once(round), default: 0] += 1 }
        return ends.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            .joined(separator: " ")
    }

    private func once(_ round: Int) async -> String {
        let (begun, signal) = AsyncStream<Void>.makeStream()
        let scan = Task {
            defer { signal.finish() }
            do throws(ReaderFailure) {
                let verdict = try await lease.scan(against: [print]) { state in
                    if state == .fingerNeeded { signal.yield() }
                }
                return verdict == .matched(print.id) ? "matched" : "\(verdict)"
            } catch {
                return "\(error)"
            }
        }
        for await _ in begun { break }
        // Now without a touch, now before it, and mostly within microseconds after the reader
        // has taken it: then it is about to end the scan by itself.
        switch round % 4 {
        case 0: scan.cancel()
        case 1:
            scan.cancel()
            _ = try? socket.send("SCAN alice-right")
        default:
            _ = try? socket.send("SCAN alice-right")
            let end = ContinuousClock.now + .microseconds(round * 7 % 100)
            while ContinuousClock.now < end {}
            scan.cancel()
        }
        return await scan.value
    }
}
