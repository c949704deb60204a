// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import TestKit
import Testing

@Suite struct `The program virtual-finger` {
    private let program = productsDirectory.appending(path: "virtual-finger").path

    @Test func `writes every touch of a way before the next way`() async throws {
        let scratch = try Scratch()
        let file = scratch.file("pictures")
        let result = try await run(
            program, ["write", file, "--finger", "2", "--touch", "3-4", "--way", "hurried,missed"])
        #expect(result.status == 0, "\(result.errors)")
        let finger = SyntheticFinger(seed: 2)
        var expected: [UInt8] = []
        for name in ["hurried", "missed"] {
            let way = try #require(TouchWay(name: name))
            for seed in [3, 4] as [UInt64] { expected += finger.image(Touch(way, seed: seed)).pgm }
        }
        #expect(try Data(contentsOf: URL(filePath: file)) == Data(expected))
    }

    @Test func `lists the ways of touching`() async throws {
        let listed = try await run(program, ["ways"]).output.split(separator: "\n")
        #expect(listed.map(String.init) == TouchWay.all.map { "\($0.name)\t\($0.summary)" })
    }

    @Test(arguments: [
        ["write", "-", "--way", "upside-down"], ["write", "-", "--way", ""],
        ["write", "-", "--way", "careful,,tip"], ["write", "-", "--way"],
        ["image", "/nonexistent", "--way", "careful,tip"], ["ways", "more"],
    ]) func `refuses a way that there is not`(arguments: [String]) async throws {
        let result = try await run(program, arguments)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errors.contains("usage: virtual-finger"))
    }
}
