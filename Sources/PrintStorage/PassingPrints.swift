// SPDX-License-Identifier: Apache-2.0

internal import LocalAuthModel

/// Follows the files of fingers between two looks at them, to know when there was one that no look
/// can have seen: it came, and went or was replaced again.
struct PassingPrints {
    /// A file in a watched directory.
    struct File: Hashable {
        let watch: Int32
        let name: String
    }

    /// What has come since the last look; the value says whether it is still being written.
    private var coming: [File: Bool] = [:]

    /// Takes a notice. Gives whether something may have been there that no look has seen.
    mutating func take(_ event: Inotify.Event) -> Bool {
        guard !event.isDirectory, let name = event.name, Finger(fileName: name) != nil else {
            return false
        }
        let file = File(watch: event.watch, name: name)
        if event.isArrival { return coming.updateValue(event.isCreation, forKey: file) != nil }
        if event.isDeparture { return coming.removeValue(forKey: file) != nil }
        // fprintd and we write beside a print and then put it in its place. Who writes into one
        // that is there could also write the older bytes back.
        if event.isWriting { return coming[file] != true }
        if event.isWritten, coming[file] == true { coming[file] = false }
        return false
    }

    /// What has come, as a whole, in these directories.
    func arrivals(in isMeant: (Int32) -> Bool) -> Set<File> {
        Set(coming.filter { !$0.value && isMeant($0.key.watch) }.keys)
    }

    /// These had come before the look, and what happened until its end is known.
    mutating func noteLook(at arrivals: Set<File>) {
        for file in arrivals { coming[file] = nil }
    }

    /// The directory is not watched any more.
    mutating func forget(_ watch: Int32) {
        if !coming.isEmpty { coming = coming.filter { $0.key.watch != watch } }
    }
}
