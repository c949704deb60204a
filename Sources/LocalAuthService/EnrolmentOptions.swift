// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding

/// The options of `EnrollFinger`, checked.
struct EnrolmentOptions {
    /// Named in the signals.
    var token = ""
    /// The default is the first that can be got at.
    var reader: ObjectPath?
    /// Whether prints of the user's that only the reader has may be deleted.
    var discardsLeftovers = false

    init(_ options: [String: BusValue]) throws(BusError) {
        for (key, value) in options.sorted(by: { $0.key < $1.key }) {
            switch (key, value) {
            case ("token", .string(let token)) where token.utf8.count <= 64: self.token = token
            case ("token", .string):
                throw BusError(.invalidArgs, "option token: at most 64 bytes")
            case ("reader", .objectPath(let path)): reader = path
            case ("discard-leftovers", .bool(let flag)): discardsLeftovers = flag
            case ("token", _), ("reader", _), ("discard-leftovers", _):
                throw BusError(.invalidArgs, "option \(key): wrong type \(value.typeSignature)")
            default: throw BusError(.invalidArgs, "unknown option \(quoted(key))")
            }
        }
    }
}
