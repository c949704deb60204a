// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import Foundation
import FoundationXML
import LocalAuthContract
import LocalAuthModel
import Testing

/// The documented introspection and the code say the same.
@Suite(.timeLimit(.minutes(1))) struct `The documented interfaces` {
    private static let folder = "dbus"

    private func documented() throws -> [XMLElement] {
        try Repository.files(in: Self.folder, ending: ".xml").flatMap {
            try Repository.xml($0).children("interface")
        }
    }

    /// The terms of an argument's list.
    private func terms(of method: String, _ argument: String) throws -> Set<String> {
        let methods = try documented().flatMap { $0.children("method") }
        let arguments = methods.filter { $0["name"] == method }.flatMap { $0.children("arg") }
        let elements = arguments.filter { $0["name"] == argument }.flatMap(\.all)
        let terms = elements.filter { $0.name == "doc:term" }.map { term in
            String(term.text.prefix { $0 != " " })
        }
        #expect(Set(terms).count == terms.count, "a term twice")
        return Set(terms)
    }

    @Test func `are those that are served`() async throws {
        // The agent's is served by others; here by a test's, which is made of the same types.
        let served = try await (servedInterfaces() + agentInterfaces()).map(Outline.init)
            .filter { !$0.interface.hasPrefix("org.freedesktop.") }
        let documented = try documented().map(Outline.init)
        #expect(Set(served.map(\.interface)) == Set(documented.map(\.interface)))
        #expect(documented.count == 5)
        for interface in served {
            let twin = documented.first { $0.interface == interface.interface }
            #expect(interface.members == twin?.members, "\(interface.interface)")
        }
    }

    @Test func `are each in the file of their name`() throws {
        for path in try Repository.files(in: Self.folder, ending: ".xml") {
            let names = try Repository.xml(path).children("interface").map { $0["name"] }
            #expect(names == [path.dropFirst(Self.folder.count + 1).dropLast(4).description])
        }
    }

    @Test func `say something about every element`() throws {
        let kinds: Set<String> = ["interface", "method", "signal", "property", "arg"]
        let elements = try documented().flatMap(\.all).filter { kinds.contains($0.name ?? "") }
        #expect(elements.count > 50)
        for element in elements {
            let texts = element.children("doc:doc").map(\.text)
            let name = "\(element.parent?.xPath ?? "") \(element["name"] ?? "?")"
            #expect(texts.count == 1 && texts.first?.isEmpty == false, "\(name)")
        }
    }

    @Test func `name every error of the service, and no other`() throws {
        let errors = try documented().flatMap(\.all).filter { $0.name == "doc:error" }
        let standard: [ErrorName] = [.invalidArgs, .limitsExceeded, .notSupported]
        let known = Set((ServiceError.allCases.map(\.name) + standard).map(\.rawValue))
        #expect(Set(errors.compactMap { $0["name"] }) == known)
        for error in errors { #expect(!error.text.isEmpty, "\(error["name"] ?? "?")") }
    }

    @Test func `name every key of options and results, and no other`() throws {
        #expect(
            try terms(of: "EvaluatePolicy", "options")
                == Set(EvaluationOption.allCases.map(\.rawValue)))
        #expect(
            try terms(of: "EvaluatePolicy", "result")
                == Set(EvaluationResultKey.allCases.map(\.rawValue)))
        #expect(
            try terms(of: "GetEnvironment", "environment")
                == Set(EnvironmentKey.allCases.map(\.rawValue)))
        #expect(
            try terms(of: "RedeemTicket", "claims") == Set(TicketClaim.allCases.map(\.rawValue)))
        #expect(
            try terms(of: "GetHistory", "entries") == Set(HistoryKey.allCases.map(\.rawValue)))
    }

    @Test func `name every key of a prompt, and no other`() throws {
        let begun = try terms(of: "BeginPrompt", "details")
        let changed = try terms(of: "UpdatePrompt", "changes")
        #expect(begun.union(changed) == Set(PromptKey.allCases.map(\.rawValue)))
        for key in [PromptKey.finger, .password, .attemptsLeft, .passwordsLeft] {
            #expect(begun.contains(key.rawValue) && changed.contains(key.rawValue))
        }
    }

    @Test(arguments: [
        ("org.example.LocalAuth", "Retry"), ("org.example.LocalAuth.Management", "EnrollProgress"),
    ])
    func `name every cause of another touch`(interface: String, signal: String) throws {
        let text = try documented().filter { $0["name"] == interface }
            .flatMap { $0.children("signal") }.first { $0["name"] == signal }?
            .children("arg").first { $0["name"] == "cause" }?.text
        for cause in RetryCause.allCases {
            #expect(text?.contains("\"\(cause.rawValue)\"") == true, "\(cause)")
        }
    }
}
