// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LocalAuthModel
package import SystemSupport

/// The prints on disk, in fprintd's place and form: `USER/DRIVER/DEVICE/F` below the directory,
/// `F` being the finger's hexadecimal digit.
///
/// Nothing is believed before it has been looked at, nothing is kept in memory, and no file is
/// removed but by `delete`.
package actor PrintStore: PrintStoring {
    let directory: String
    let executor: PollExecutor
    let log: Log
    var passedOver: PassedOver
    var watch: PrintWatch?
    var watchToken: PollExecutor.Token?
    var changed: (@Sendable (UserName?) -> Void)?

    /// fprintd's `directory` is `/var/lib/fprint`. It is made when it is needed.
    package init(directory: String, executor: PollExecutor, log: Log) {
        self.directory = directory
        self.executor = executor
        self.log = log
        passedOver = PassedOver(log: log, message: "print passed over")
    }

    isolated deinit {
        if let watchToken { executor.unwatch(watchToken) }
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    package func list(of user: UserName) throws(StorageFailure) -> PrintListing {
        // Notices are taken before and after: what came before the look has been seen by it unless
        // a notice says that it went again.
        takeNotices()
        _ = watch?.unseen(of: user)
        let arrivals = watch?.arrivals(of: user) ?? []
        let found = try prints(of: user, for: nil)
        takeNotices()
        watch?.noteLook(at: arrivals)
        return PrintListing(found, unseen: watch?.unseen(of: user) ?? 0)
    }

    package func load(
        of user: UserName, for readers: Set<ReaderKind>
    ) throws(StorageFailure) -> [StoredPrint] {
        try prints(of: user, for: readers)
    }

    package func load(for reader: ReaderKind) throws(StorageFailure) -> [StoredPrint] {
        try prints(for: reader)
    }

    /// Also refuses, with `EINVAL`, what could not be read back.
    package func save(_ print: StoredPrint) throws(StorageFailure) {
        if let refusal = PrintCheck.refusal(of: print.template, for: print.id) {
            log.warning("print not saved", ["reason": refusal.rawValue])
            throw .io(EINVAL)
        }
        do throws(EntryFailure) {
            let root = try Directory.open(path: directory, creating: true)
            try withDevice(of: print.id, in: root, creating: true) {
                (device) throws(EntryFailure) in
                try device.replace(print.id.finger.fileName, with: print.template)
            }
        } catch {
            throw StorageFailure(error)
        }
    }

    /// Also removes the directories that are empty then.
    package func delete(_ print: PrintID) throws(StorageFailure) {
        do throws(EntryFailure) {
            let root = try Directory.open(path: directory)
            try withDevice(of: print, in: root) { (device) throws(EntryFailure) in
                try device.remove(print.finger.fileName)
            }
        } catch {
            throw StorageFailure(error)
        }
    }

    /// Directories that are empty at the end are removed, as fprintd does.
    private func withDevice(
        of print: PrintID, in root: borrowing Directory, creating: Bool = false,
        _ body: (borrowing Directory) throws(EntryFailure) -> Void
    ) throws(EntryFailure) {
        let (driverName, deviceName) = (print.reader.driver, print.reader.deviceID)
        let user = try root.child(print.user.rawValue, creating: creating)
        defer { root.removeIfEmpty(print.user.rawValue) }
        let driver = try user.child(driverName, creating: creating)
        defer { user.removeIfEmpty(driverName) }
        let device = try driver.child(deviceName, creating: creating)
        defer { driver.removeIfEmpty(deviceName) }
        try body(device)
    }
}
