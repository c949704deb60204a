// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct `The layers` {
    @Test func `every module imports only what its layer allows and its target declares`() throws {
        let declared = try Manifest.own().targets
        let files = try SourceFile.all(below: "Sources")
        #expect(files.count > 50)
        #expect(files.flatMap { $0.violations(layers: layers, declared: declared) } == [])
    }

    @Test func `the tests import only what they declare`() throws {
        let declared = try Manifest.own().targets
        let files =
            try SourceFile.all(below: "Tests", except: "Support")
            + SourceFile.all(below: "Tests/Support")
        #expect(files.flatMap { $0.undeclaredImports(declared) } == [])
    }

    @Test func `every folder of sources is a target in a layer`() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: SourceFile.root.appending(path: "Sources").path)
        #expect(Set(folders) == Set(layers.keys).union(ownersOfC.keys))
        #expect(Set(try Manifest.own().targets.keys).isSuperset(of: folders))
    }

    @Test func `the model imports nothing`() { #expect(layers["LocalAuthModel"] == []) }

    @Test func `a C module is known to its owners only`() {
        for (module, allowed) in layers {
            for name in allowed {
                #expect(ownersOfC[name]?.contains(module) != false, "\(module) and \(name)")
            }
        }
    }

    @Test func `only the daemon names adapters`() {
        let naming = layers.filter { !$0.value.isDisjoint(with: adapters) }.keys
        #expect(Array(naming) == ["localauthd"])
    }

    @Test func `bindings and contract know no word of ours`() {
        for module in ["SystemSupport", "DBusBinding", "LocalAuthContract"] {
            #expect(!layers.closure(of: module).contains("LocalAuthModel"), "\(module)")
        }
    }

    @Test func `the program that checks passwords knows neither bus nor readers`() {
        let all = layers.closure(of: "localauth-pam-helper")
        #expect(all.isDisjoint(with: ["CDBus", "CFprint", "CGLib"]))
        #expect(all.isDisjoint(with: tooHeavy))
        #expect(!layers.closure(of: "localauthd").contains("CPAM"))
    }

    @Test func `what runs in applications knows neither readers nor prints nor PAM`() {
        let all = layers.closure(of: "LocalAuthentication")
        #expect(all.isDisjoint(with: ["CFprint", "CGLib", "CPAM", "LocalAuthModel"]))
    }

    @Test func `the daemon is free of Foundation and Dispatch`() {
        #expect(layers.closure(of: "localauthd").isDisjoint(with: tooHeavy))
    }
}

@Suite struct `The sources` {
    @Test func `each begins with its license and is not too long`() throws {
        let files = try SourceFile.all(below: "Sources") + SourceFile.all(below: "Tests")
        #expect(files.flatMap(\.faults) == [])
    }

    @Test func `the C headers and the manifest name their license`() throws {
        let sources = SourceFile.root.appending(path: "Sources")
        let headers = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
            .filter { $0.hasSuffix(".h") }.map { sources.appending(path: $0) }
        for file in headers + [SourceFile.root.appending(path: "Package.swift")] {
            let top = try String(contentsOf: file, encoding: .utf8)
                .split(separator: "\n").prefix(2).joined()
            #expect(top.contains("SPDX-License-Identifier: Apache-2.0"), "\(file.path)")
        }
    }
}
