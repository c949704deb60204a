// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import Testing

/// What `scripts/measure-match-quality` writes for programs, as far as the tests look at it.
struct MatchQuality: Decodable {
    struct Own: Decodable {
        let hits, trials, bad, empty, refused, refusable: Int
    }

    struct Strangers: Decodable {
        let hits, trials, bad, fingers, acceptedFingers: Int
        let low, high: Double
        let accepted: [[Int]]
    }

    struct Threshold: Decodable {
        let threshold, falseRejects, falseAccepts, others: Int
    }

    let thresholds: [Int]
    let pairsVerified: Int
    let ownScores: [Int]
    let own: [String: Own]
    let strangers: [String: Strangers]
    let lowerThresholds: [String: [Threshold]]

    static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "scripts/measure-match-quality").path

    static let finger = productsDirectory.appending(path: "virtual-finger").path

    /// The numbers of a run that has to succeed.
    static func measured(_ arguments: String...) async throws -> MatchQuality {
        let scratch = try Scratch()
        let file = scratch.file("numbers")
        let result = try await run(arguments + ["--json", file])
        try #require(result.status == 0, "\(result.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Self.self, from: Data(contentsOf: URL(filePath: file)))
    }

    static func run(_ arguments: String...) async throws -> ProgramResult {
        try await run(arguments)
    }

    private static func run(_ arguments: [String]) async throws -> ProgramResult {
        try await BusTestKit.run("/usr/bin/python3", [script, "--program", finger] + arguments)
    }

    /// Runs Python with the script loaded as `script`, but not run.
    static func python(_ lines: String) async throws -> ProgramResult {
        let loading = """
            from importlib import machinery, util
            loader = machinery.SourceFileLoader("script", "\(script)")
            script = util.module_from_spec(util.spec_from_loader("script", loader))
            loader.exec_module(script)
            \(lines)
            """
        return try await BusTestKit.run("/usr/bin/python3", ["-B", "-c", loading])
    }
}
