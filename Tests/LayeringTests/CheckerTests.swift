// SPDX-License-Identifier: Apache-2.0

import Testing

/// What holds the sources to the layers must itself see what is wrong.
@Suite struct `The checker` {
    private let layers: [String: Set<String>] = ["Rules": [], "Adapter": ["Rules", "CThing"]]
    private let declared: [String: Set<String>] = ["Rules": [], "Adapter": ["Rules"]]

    private func violations(_ module: String, _ text: String) -> [String] {
        SourceFile(module: module, path: "a.swift", text: text)
            .violations(layers: layers, declared: declared)
    }

    @Test(arguments: [
        "import Foundation", "internal import Foundation", "  package import Foundation",
        "@preconcurrency import Foundation", "import struct Foundation.URL",
        "@_spi(Thing) private import Foundation", "// why\nimport Foundation",
        "#if os(Linux)\nimport Foundation\n#endif",
    ])
    func `sees every form of an import`(text: String) {
        #expect(violations("Rules", text) == ["a.swift: may not import Foundation"])
    }

    @Test(arguments: ["// import Foundation", "let important = 1", "important Foundation", ""])
    func `takes nothing else for an import`(text: String) {
        #expect(violations("Rules", text) == [])
    }

    @Test func `sees an import that is allowed but not declared`() {
        #expect(
            violations("Adapter", "import Rules\nimport CThing")
                == ["a.swift: Adapter does not declare CThing"])
    }

    @Test func `sees an import that is handed on`() {
        #expect(violations("Adapter", "@_exported import Rules") == ["a.swift: hands Rules on"])
    }

    @Test func `sees a module that nobody put in a layer`() {
        #expect(violations("New", "") == ["a.swift: New is in no layer"])
    }

    @Test func `sees a missing license and a long file`() {
        let long = SourceFile(
            module: "Rules", path: "a.swift", text: String(repeating: "\n", count: 401))
        #expect(long.faults == ["a.swift: no license line", "a.swift: 401 lines"])
        let fine = SourceFile(
            module: "Rules", path: "a.swift",
            text: SourceFile.license + String(repeating: "\n", count: 400))
        #expect(fine.faults == [])
    }

    @Test func `reads a manifest`() {
        let manifest = Manifest(
            parsing: """
                func layer(_ name: String) {}
                .systemLibrary(name: "CThing", providers: [.apt(["thing"])]),
                layer("Rules"),
                layer(
                    "Adapter",
                    ["Rules", "CThing"]),
                program("tool", path: "Tests/tool", ["Adapter"]),
                """)
        #expect(
            manifest.targets == [
                "CThing": [], "Rules": [], "Adapter": ["Rules", "CThing"], "tool": ["Adapter"],
            ])
    }
}
