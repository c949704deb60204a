// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A connection's unique name, such as `:1.42`. Exists only in valid form.
package struct UniqueName: Hashable, Sendable {
    package let rawValue: String

    package init?(_ text: String) {
        guard text.hasPrefix(":"), isValid(text, .busName) else { return nil }
        rawValue = text
    }
}

/// An object's path. Exists only in valid form.
package struct ObjectPath: Hashable, Sendable, ExpressibleByStringLiteral {
    package let rawValue: String

    package init?(_ text: String) {
        guard isValid(text, .path) else { return nil }
        rawValue = text
    }

    package init(stringLiteral value: String) {
        precondition(isValid(value, .path), "not an object path")
        rawValue = value
    }

    /// The paths above this one, nearest first; none for the root.
    var parents: [ObjectPath] {
        var result: [ObjectPath] = []
        var rest = Substring(rawValue)
        while rest.utf8.count > 1, let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
            rest = rest[..<slash]
            guard let parent = ObjectPath(rest.isEmpty ? "/" : String(rest)) else { break }
            result.append(parent)
        }
        return result
    }

    /// The last element of the path.
    var lastElement: Substring {
        rawValue.split(separator: "/").last ?? ""
    }
}

/// What the three kinds of names have in common that only ever stand in our own source.
///
/// They are literals, so a wrong one is a programming error and traps.
package protocol LiteralName: Hashable, Sendable, ExpressibleByStringLiteral {
    var rawValue: String { get }
}

/// A well-known bus name, such as `org.example.LocalAuth`.
package struct BusName: LiteralName {
    package let rawValue: String
    package init(stringLiteral value: String) {
        precondition(isValid(value, .busName), "not a bus name")
        rawValue = value
    }
}

/// The name of an interface.
package struct InterfaceName: LiteralName {
    package let rawValue: String
    package init(stringLiteral value: String) {
        precondition(isValid(value, .interface), "not an interface name")
        rawValue = value
    }
}

/// The name of a method, signal or property.
package struct MemberName: LiteralName {
    package let rawValue: String
    package init(stringLiteral value: String) {
        precondition(isValid(value, .member), "not a member name")
        rawValue = value
    }
}

/// The name of an error.
package struct ErrorName: Hashable, Sendable, ExpressibleByStringLiteral {
    package let rawValue: String
    package init(stringLiteral value: String) {
        precondition(isValid(value, .error), "not an error name")
        rawValue = value
    }

    package init?(_ text: String) {
        guard isValid(text, .error) else { return nil }
        rawValue = text
    }
}

/// What a text is to be valid as; the rules are libdbus's own.
private enum NameKind { case busName, path, interface, member, error }

private func isValid(_ text: String, _ kind: NameKind) -> Bool {
    // libdbus reads up to the first NUL, so a text with one would be judged by its beginning.
    guard !text.utf8.contains(0) else { return false }
    // SAFETY: libdbus only reads the text, during the call.
    return unsafe text.withCString { text in
        switch kind {
        case .busName: unsafe dbus_validate_bus_name(text, nil) != 0
        case .path: unsafe dbus_validate_path(text, nil) != 0
        case .interface: unsafe dbus_validate_interface(text, nil) != 0
        case .member: unsafe dbus_validate_member(text, nil) != 0
        case .error: unsafe dbus_validate_error_name(text, nil) != 0
        }
    }
}
