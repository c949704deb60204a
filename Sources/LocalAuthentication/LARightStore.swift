// SPDX-License-Identifier: Apache-2.0

/// Keeps rights over the ends of the application.
///
/// On Linux it is a folder of the user's (`$XDG_DATA_HOME/localauth/rights`), with one file for each
/// right and one folder for each program, by its name. It keeps what a right needs, and no secret: a
/// program of the same user can change it. What must be safe from such programs belongs behind a
/// ticket (``LAContext/redeem(_:challenge:)``) in a program of another user.
public final class LARightStore: NSObject, Sendable {
    /// The rights of this program.
    public static let shared = LARightStore(files: RightFiles(), link: .shared)

    private let files: RightFiles
    private let link: ServiceLink

    init(files: RightFiles, link: ServiceLink) {
        self.files = files
        self.link = link
        super.init()
    }

    /// The same in another folder.
    package convenience init(folder: URL, link: ServiceLink) {
        self.init(files: RightFiles(folder: folder), link: link)
    }

    /// A right that was saved.
    ///
    /// - Parameter identifier: what it was saved as.
    /// - Returns: the right, not authorized yet.
    /// - Throws: `CocoaError` when there is none, or none that can be read.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        let record = try files.read(identifier)
        return LAPersistedRight(
            identifier, LAAuthenticationRequirement(record.requirement), tag: record.tag,
            domainState: record.domainState, link: link)
    }

    /// Saves a right.
    ///
    /// - Parameters:
    ///   - right: the right.
    ///   - identifier: what to save it as; 1 to 100 bytes of UTF-8.
    /// - Returns: the right as it was saved, not authorized yet.
    /// - Throws: `CocoaError` when there is one already or it cannot be written; an ``LAError`` when
    ///   the right needs the fingers of now and they are not known.
    @discardableResult
    public func saveRight(
        _ right: LARight, identifier: String
    ) async throws -> LAPersistedRight {
        let state = try await right.boundState()
        try files.write(
            RightFiles.Record(
                requirement: right.requirement.kind, tag: right.tag, domainState: state),
            identifier)
        return LAPersistedRight(
            identifier, right.requirement, tag: right.tag, domainState: state, link: link)
    }

    /// Removes a right.
    ///
    /// - Parameter right: the right; it is not authorized any more.
    /// - Throws: `CocoaError` when there is none, or it cannot be removed.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try files.remove(right.identifier)
        await right.deauthorize()
    }

    /// Removes a right.
    ///
    /// - Parameter identifier: what it was saved as.
    /// - Throws: `CocoaError` when there is none, or it cannot be removed.
    public func removeRight(forIdentifier identifier: String) async throws {
        try files.remove(identifier)
    }

    /// Removes all rights of this program.
    ///
    /// - Throws: `CocoaError` when they cannot be removed.
    public func removeAllRights() async throws { try files.removeAll() }
}
