// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LocalAuthModel
internal import SystemSupport

/// Which directories are watched, and whose they are.
struct PrintWatch: ~Copyable {
    /// What a batch of notices comes to.
    struct Changes {
        var users: Set<UserName> = []
        var isAnybody = false
        /// The directory of all users may have gone or come.
        var isRootMoved = false
    }

    private enum Place: Hashable {
        /// The one that holds the root; watched only while there is no root.
        case parent
        case root
        case user(UserName)
    }

    /// A daemon for few users on one machine: more than this is a mistake somewhere.
    private static let mostPerUser = 64
    private static let most = 2_048

    private let inotify: Inotify
    private let log: Log
    private let rootName: String
    private var places: [Int32: Place] = [:]
    private var passing = PassingPrints()
    /// What may have come and gone unseen, of the users that were listed.
    private var unseen: [UserName: UInt64] = [:]
    /// The same where it may have been anybody's.
    private var unseenByAll: UInt64 = 0
    private var hasComplained = false

    /// `rootName` is the last part of the root's path.
    init(rootName: String, log: Log) throws(EntryFailure) {
        inotify = try Inotify()
        self.rootName = rootName
        self.log = log
    }

    var rawValue: Int32 { inotify.rawValue }

    /// Gives whether it is another root than the one that was watched, if one was. Then all
    /// other watches are off.
    mutating func watchRoot(_ root: borrowing Directory) throws(EntryFailure) -> Bool {
        let watch = try inotify.watch(root)
        guard places[watch] != .root else { return false }
        places[watch] = nil
        drop { _ in true }
        places[watch] = .root
        unseenByAll += 1
        return true
    }

    mutating func watchParent(_ parent: borrowing Directory) throws(EntryFailure) {
        places[try inotify.watch(parent)] = .parent
    }

    /// Watches one of the user's directories. Where the kernel has no watch left this says so
    /// once and goes on: an evaluation reads the disk anyway, only what is told in advance can
    /// then be stale.
    mutating func watch(_ directory: borrowing Directory, of user: UserName) {
        let place = Place.user(user)
        let watch: Int32
        do throws(EntryFailure) {
            watch = try inotify.watch(directory)
        } catch {
            return complain(error)
        }
        if places[watch] == nil {
            let own = places.values.count { $0 == place }
            guard own < Self.mostPerUser, places.count < Self.most else {
                inotify.unwatch(watch)
                return complain(.failed(ENOSPC))
            }
        }
        places[watch] = place
    }

    /// What may have come and gone unseen among the user's prints; counted from the first time
    /// that this is asked, because before that nobody had looked.
    mutating func unseen(of user: UserName) -> UInt64 {
        if unseen[user] == nil { unseen[user] = 0 }
        return (unseen[user] ?? 0) &+ unseenByAll
    }

    /// The user's files that have come since the last look, to be given to `noteLook` after it.
    func arrivals(of user: UserName) -> Set<PassingPrints.File> {
        passing.arrivals { places[$0] == .user(user) }
    }

    /// The user's directories were read after these had come, and the notices of what happened
    /// until then were taken.
    mutating func noteLook(at arrivals: Set<PassingPrints.File>) { passing.noteLook(at: arrivals) }

    /// Takes all notices.
    mutating func changes() -> Changes {
        var changes = Changes()
        for event in inotify.events() {
            if event.isOverflow {
                // Which notices were lost is unknown, so also what the watches still stand for.
                changes.isAnybody = true
                changes.isRootMoved = true
                drop { _ in true }
                unseenByAll += 1
                continue
            }
            // Notices of a watch that was taken back may still come.
            guard let place = places[event.watch] else { continue }
            if event.isEnd {
                places[event.watch] = nil
                passing.forget(event.watch)
            }
            switch place {
            case .parent:
                if event.name == rootName || event.isLoss { changes.isRootMoved = true }
            case .root where event.isLoss:
                changes.isAnybody = true
                changes.isRootMoved = true
                drop { _ in true }
                unseenByAll += 1
            case .root:
                guard let user = event.name.flatMap(UserName.init) else { continue }
                changes.users.insert(user)
                if event.isDirectory { noteUnseen(of: user) }
                // The directory may live on under another name, even another user's.
                if event.isDirectoryGone { drop { $0 == .user(user) } }
            case .user(let user):
                changes.users.insert(user)
                // Nobody has watched what was in a directory before it came, or after it went.
                let isUnwatched =
                    event.isLoss || event.isDirectory && (event.isArrival || event.isDeparture)
                if isUnwatched || passing.take(event) { noteUnseen(of: user) }
                if event.isDirectoryGone || event.isLoss { drop { $0 == place } }
            }
        }
        return changes
    }

    private mutating func noteUnseen(of user: UserName) {
        if let count = unseen[user] { unseen[user] = count &+ 1 }
    }

    private mutating func drop(_ isDropped: (Place) -> Bool) {
        for (watch, place) in places where isDropped(place) {
            inotify.unwatch(watch)
            places[watch] = nil
            passing.forget(watch)
        }
    }

    private mutating func complain(_ failure: EntryFailure) {
        guard !hasComplained else { return }
        hasComplained = true
        log.warning("some print directories are not watched", ["reason": failure.reason])
    }
}
