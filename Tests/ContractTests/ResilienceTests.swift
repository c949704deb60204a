// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct `The table of what can happen` {
    @Test func `names suites that there are`() throws {
        let rows = try Repository.text("docs/resilience.md").split(separator: "\n")
            .filter { $0.hasPrefix("|") && $0.contains("`") }
        var tests: [String] = []
        for target in try FileManager.default.contentsOfDirectory(
            atPath: Repository.file("Tests").path) where target.hasSuffix("Tests")
        {
            for file in try Repository.files(in: "Tests/\(target)", ending: ".swift") {
                tests.append(try Repository.text(file))
            }
        }
        var count = 0
        for row in rows {
            let names = row.split(separator: "|").last?.split(separator: "`") ?? []
            for (place, name) in names.enumerated() where place % 2 == 1 {
                count += 1
                #expect(tests.contains { $0.contains("struct `\(name)`") }, "\(name)")
            }
        }
        #expect(count > 50, "the table is read as it is written")
    }
}
