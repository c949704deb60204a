// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationXML
import LocalAuthModel
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The polkit policy` {
    private static let path = "policy/org.example.localauth.policy"
    private static let dtd = "/usr/share/polkit-1/policyconfig-1.dtd"

    private func actions() throws -> [XMLElement] {
        try Repository.xml(Self.path).children("action")
    }

    /// What polkit answers by default for `allow_any`, `allow_inactive` and `allow_active`.
    private func defaults(of action: Action) throws -> [String: String] {
        let all = try actions().filter { $0["id"] == action.rawValue }
            .flatMap { $0.children("defaults") }.flatMap(\.childElements)
        return Dictionary(all.map { ($0.name ?? "?", $0.text) }) { first, _ in first }
    }

    @Test func `declares the actions that the daemon asks for, and no other`() throws {
        #expect(
            try actions().compactMap { $0["id"] }.sorted()
                == Action.allCases.map(\.rawValue).sorted())
    }

    @Test func `says in words what each action is`() throws {
        for action in try actions() {
            for kind in ["description", "message"] {
                #expect(
                    action.children(kind).first?.text.isEmpty == false,
                    "\(kind) of \(action["id"] ?? "?")")
            }
        }
    }

    @Test(arguments: Action.allCases)
    func `lets nobody pass unasked who is away from the machine`(action: Action) throws {
        let defaults = try defaults(of: action)
        #expect(defaults.count == 3)
        for place in ["allow_any", "allow_inactive"] {
            #expect(["no", "auth_admin"].contains(defaults[place]), "\(place)")
        }
    }

    @Test func `lets users at the machine ask for themselves, and administrators for others`()
        throws
    {
        // An answer that polkit keeps would let a second change pass without a question, and
        // `auth_self` could be answered with a finger.
        let expected: [Action: String] = [
            .evaluate: "yes", .manage: "yes", .evaluateOthers: "auth_admin",
            .manageOthers: "auth_admin", .resetLockout: "auth_admin",
        ]
        for action in Action.allCases {
            #expect(try defaults(of: action)["allow_active"] == expected[action], "\(action)")
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: dtd), "polkit's DTD is missing"))
    func `is valid by polkit's own grammar`() async throws {
        let result = try await run(
            "xmllint", "--noout", "--nonet", "--dtdvalid", Self.dtd,
            Repository.file(Self.path).path)
        #expect(result.status == 0, "\(result.output)")
    }

    @Test func `has a sample rule that names known actions only`() throws {
        let text = try Repository.text("policy/org.example.localauth.rules.example")
        let named = text.matches(of: /"(org\.example\.localauth[^"]*)"/).map { "\($0.1)" }
        #expect(!named.isEmpty)
        for id in named { #expect(Action(rawValue: id) != nil, "\(id)") }
    }
}
