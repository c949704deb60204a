// SPDX-License-Identifier: Apache-2.0

import FoundationXML

/// What an interface promises, one line for each member, without its documentation.
struct Outline: Equatable {
    let interface: String
    let members: [String]

    init(_ element: XMLElement) {
        interface = element["name"] ?? ""
        members = element.childElements.compactMap(Self.member).sorted()
    }

    private static func member(_ element: XMLElement) -> String? {
        let name = element["name"] ?? "?"
        let annotations = element.children("annotation").map {
            " \($0["name"] ?? "?")=\($0["value"] ?? "?")"
        }.joined()
        switch element.name {
        case "method", "signal":
            let arguments = element.children("arg").map { arg in
                [arg["direction"], arg["type"], arg["name"]].compactMap(\.self)
                    .joined(separator: " ")
            }
            let kind = element.name ?? "?"
            return "\(kind) \(name)(\(arguments.joined(separator: ", ")))\(annotations)"
        case "property":
            return "property \(name) \(element["type"] ?? "?") \(element["access"] ?? "?")"
                + annotations
        case "doc:doc": return nil
        case let other: return "\(other ?? "?") \(name)"
        }
    }
}
