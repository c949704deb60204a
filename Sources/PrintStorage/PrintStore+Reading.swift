// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LocalAuthModel

extension PrintStore {
    /// Everybody's usable prints for a kind of reader, in a look in passing: nothing is watched,
    /// and a user whose directory will not do has none. Nobody's files keep others from enrolling.
    func prints(for reader: ReaderKind) throws(StorageFailure) -> [StoredPrint] {
        do throws(EntryFailure) {
            let names: [String?]
            do throws(EntryFailure) {
                names = try Directory.open(path: directory).names()
            } catch .missing {
                return []
            }
            var found: [StoredPrint] = []
            for case .some(let name) in names {
                guard let user = UserName(name) else { continue }
                do throws(EntryFailure) {
                    found += try lookedUp(of: user, for: [reader], isWatched: false)
                } catch {
                    if error.isShortage { throw error }
                }
            }
            return found
        } catch {
            throw StorageFailure(error)
        }
    }

    /// The user's usable prints; all of them if `readers` is `nil`. Each directory is watched
    /// before it is read, so that no change falls between.
    ///
    /// A file, or a directory below the user's, that will not do is passed over. Where it cannot
    /// be told what there is, this throws: "unknown" is not "none".
    func prints(
        of user: UserName, for readers: Set<ReaderKind>?
    ) throws(StorageFailure) -> [StoredPrint] {
        do throws(EntryFailure) {
            if restoreRootWatch() { changed?(nil) }
            return try lookedUp(of: user, for: readers, isWatched: true)
        } catch {
            throw StorageFailure(error)
        }
    }

    private func lookedUp(
        of user: UserName, for readers: Set<ReaderKind>?, isWatched: Bool
    ) throws(EntryFailure) -> [StoredPrint] {
        do throws(EntryFailure) {
            let home = try home(of: user)
            if isWatched { watch?.watch(home, of: user) }
            var found: [StoredPrint] = []
            let drivers = readers.map { Set($0.map(\.driver)).sorted() }
            for name in try names(in: home, wanted: drivers, path: user.rawValue) {
                guard let driver = try usable(name, in: home, path: user.rawValue) else { continue }
                if isWatched { watch?.watch(driver, of: user) }
                let devices = readers.map {
                    $0.filter { $0.driver == name }.map(\.deviceID).sorted()
                }
                let path = "\(user.rawValue)/\(name)"
                for deviceName in try names(in: driver, wanted: devices, path: path) {
                    guard let device = try usable(deviceName, in: driver, path: path),
                        let kind = ReaderKind(driver: name, deviceID: deviceName)
                    else { continue }
                    if isWatched { watch?.watch(device, of: user) }
                    found += try prints(of: user, for: kind, in: device)
                }
            }
            return found
        } catch .missing {
            return []
        }
    }

    /// The user's directory; where it will not do, that is logged and thrown on.
    private func home(of user: UserName) throws(EntryFailure) -> Directory {
        let root: Directory
        do throws(EntryFailure) {
            root = try Directory.open(path: directory)
        } catch {
            if error != .missing {
                passedOver.report(
                    error, path: "", label: "the directory of all users", identity: nil)
            }
            throw error
        }
        do throws(EntryFailure) {
            return try root.child(user.rawValue)
        } catch {
            if error != .missing {
                passedOver.report(
                    error, path: user.rawValue, label: "a user's directory",
                    identity: (try? root.status(of: user.rawValue)).map { FileIdentity($0) })
            }
            throw error
        }
    }

    private func prints(
        of user: UserName, for reader: ReaderKind, in device: borrowing Directory
    ) throws(EntryFailure) -> [StoredPrint] {
        let path = "\(user.rawValue)/\(reader.driver)/\(reader.deviceID)"
        var found: [StoredPrint] = []
        for name in try names(in: device, wanted: nil, path: path) {
            if TemporaryName.matches(name) { continue }
            do throws(EntryFailure) {
                guard let finger = Finger(fileName: name) else { throw .refused(.misnamed) }
                let id = PrintID(user: user, reader: reader, finger: finger)
                let bytes = try device.contents(of: name, limit: PrintCheck.largestFile)
                if let refusal = PrintCheck.refusal(of: bytes, for: id) { throw .refused(refusal) }
                found.append(StoredPrint(id: id, template: bytes))
            } catch {
                try passOver(error, name, in: device, path: path)
            }
        }
        return found
    }

    /// The directory `name`, or `nil` when it is passed over.
    private func usable(
        _ name: String, in parent: borrowing Directory, path: String
    ) throws(EntryFailure) -> Directory? {
        do throws(EntryFailure) {
            return try parent.child(name)
        } catch .failed(let code) {
            throw .failed(code)
        } catch {
            try passOver(error, name, in: parent, path: path)
            return nil
        }
    }

    /// `wanted`, or else what there is.
    private func names(
        in directory: borrowing Directory, wanted: [String]?, path: String
    ) throws(EntryFailure) -> [String] {
        if let wanted { return wanted }
        var names: [String] = []
        for name in try directory.names() {
            if let name {
                names.append(name)
            } else {
                passedOver.report(
                    .refused(.misnamed), path: "\(path)/?", label: "name not UTF-8", identity: nil)
            }
        }
        return names
    }

    /// Throws on where the fault is not the file's but the daemon's or the machine's.
    private func passOver(
        _ failure: EntryFailure, _ name: String, in parent: borrowing Directory, path: String
    ) throws(EntryFailure) {
        if failure == .missing { return }
        if failure.isShortage { throw failure }
        let whole = "\(path)/\(name)"
        passedOver.report(
            failure, path: whole,
            label: whole.split(separator: "/").dropFirst().joined(separator: "/"),
            identity: (try? parent.status(of: name)).map { FileIdentity($0) })
    }
}
