// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// What logind says about a session. Whether it is active and whether it is remote has to be said;
/// what only speaks against a session need not be.
struct SessionFacts: Hashable {
    private let user: UInt32?
    private let isHere: Bool

    /// Sessions of people who have logged in. Not: a greeter or a lock screen, before which
    /// anybody may stand; a session whose user's home is not open yet; background work; the
    /// user's service manager.
    private static let classes: Set<String> = [
        "user", "user-early", "user-light", "user-early-light",
    ]

    /// Reads the session's properties; one of another type is no yes.
    init?(_ values: [String: BusValue]) {
        guard case .bool(let isActive)? = values["Active"],
            case .bool(let isRemote)? = values["Remote"]
        else { return nil }
        var counts = isActive && !isRemote
        switch values["LockedHint"] {
        case nil: break
        case .bool(let isLocked)?: counts = counts && !isLocked
        default: return nil
        }
        switch values["State"] {
        case nil: break
        // One that is closing may still be called active.
        case .string(let state)?: counts = counts && state != "closing" && state != "opening"
        default: return nil
        }
        switch values["Class"] {
        case nil: break
        case .string(let kind)?: counts = counts && Self.classes.contains(kind)
        default: return nil
        }
        switch values["Seat"] {
        case nil: break
        // A session without a seat, of `su`, of a virtual desktop or at a serial line, counts as
        // active for logind as long as it lasts; nobody can be told to sit at the machine for it.
        case .structure(let fields)?:
            guard fields.count == 2, case .string(let name) = fields[0] else { return nil }
            counts = counts && !name.isEmpty
        default: return nil
        }
        switch values["User"] {
        case nil: user = nil
        case .structure(let fields)?:
            guard fields.count == 2, case .uint32(let id) = fields[0] else { return nil }
            user = id
        default: return nil
        }
        isHere = counts
    }

    /// Active, local, at a seat and not locked; and the user's own, except that root may be in
    /// somebody's, by sudo.
    func presence(of user: UserID, isOwn mustBeOwn: Bool) -> Presence {
        let isOwn = self.user.map { $0 == user.rawValue } ?? true
        guard isOwn || (user.isRoot && !mustBeOwn) else { return .absent }
        return isHere ? .present : .absent
    }

    /// The session of a user's desktop: `Display` is (so), the session's id and path, with an
    /// empty id where there is none.
    static func display(of userProperties: [String: BusValue]) -> ObjectPath? {
        guard case .structure(let fields)? = userProperties["Display"], fields.count == 2,
            case .string(let id) = fields[0], !id.isEmpty,
            case .objectPath(let path) = fields[1]
        else { return nil }
        return path
    }
}
