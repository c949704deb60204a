// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel

/// What logind says about a session. Exists only when logind says all of it.
struct SessionFacts: Hashable {
    let user: UInt32
    private let isHere: Bool

    /// Sessions of people who have logged in. Not: a greeter or a lock screen, before which
    /// anybody may stand; a session whose user's home is not open yet; background work; the
    /// user's service manager.
    private static let classes: Set<String> = [
        "user", "user-early", "user-light", "user-early-light",
    ]

    /// Reads the session's properties; what is missing or of another type is no yes.
    init?(_ values: [String: BusValue]) {
        guard case .bool(let isActive)? = values["Active"],
            case .bool(let isRemote)? = values["Remote"],
            case .string(let state)? = values["State"],
            case .string(let kind)? = values["Class"],
            case .structure(let user)? = values["User"], user.count == 2,
            case .uint32(let id) = user[0],
            case .structure(let seat)? = values["Seat"], seat.count == 2,
            case .string(let seatName) = seat[0]
        else { return nil }
        // Sessions without a lock have no hint, which means not locked.
        let isLocked: Bool
        switch values["LockedHint"] {
        case nil: isLocked = false
        case .bool(let hint)?: isLocked = hint
        default: return nil
        }
        self.user = id
        // A session without a seat, of `su`, of a virtual desktop or at a serial line, counts as
        // active for logind as long as it lasts; nobody can be told to sit at the machine for it.
        // A session that is closing may still be called active.
        isHere =
            isActive && state == "active" && !isRemote && !isLocked && !seatName.isEmpty
            && Self.classes.contains(kind)
    }

    /// Active, local, at a seat and not locked; and the user's own, except that root may be in
    /// somebody's, by sudo.
    func presence(of user: UserID, isOwn mustBeOwn: Bool) -> Presence {
        let isOwn = self.user == user.rawValue
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
