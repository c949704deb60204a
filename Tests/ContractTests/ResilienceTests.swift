// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct `The tables of what can happen` {
    @Test(arguments: [("docs/resilience.md", 50), ("docs/libfprint.md", 30)])
    func `name suites that there are`(page: String, least: Int) throws {
        let rows = try Repository.text(page).split(separator: "\n")
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
        #expect(count >= least, "the table is read as it is written")
    }
}
